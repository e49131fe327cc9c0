from brasstag.models.choose import Choice as Choice
