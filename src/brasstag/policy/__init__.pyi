from brasstag.policy.explain import Explanation as Explanation
from brasstag.policy.narrow import NoRule as NoRule
from brasstag.policy.profiles import LANDING as LANDING
from brasstag.policy.replay import Replayed as Replayed
from brasstag.policy.roles import OPERATOR as OPERATOR
from brasstag.policy.shipped import shipped_rules as shipped_rules
