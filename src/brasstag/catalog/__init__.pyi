from brasstag.catalog.gate.issue_texts import assessment_text as assessment_text
from brasstag.catalog.gate.issue_texts import case_lines as case_lines
from brasstag.catalog.issue_search import IssueFilter as IssueFilter
from brasstag.catalog.merge import Catalog as Catalog
from brasstag.catalog.merge import CatalogEntry as CatalogEntry
from brasstag.catalog.sealed_core import core_tools as core_tools
