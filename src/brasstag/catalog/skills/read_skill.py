"""Read an Agent Skill as a document that can be proposed: exactly for our own, as far as it goes for others."""

from pathlib import Path
from typing import Any

from brasstag.catalog.skills.allowed_tools import narrowed
from brasstag.catalog.skills.evals import EVALS, Evals, read_evals
from brasstag.catalog.skills.frontmatter import FrontValue, read_frontmatter, split_skill
from brasstag.catalog.skills.notes import with_notes
from brasstag.catalog.skills.skill_body import cut_by_headings, cut_by_lengths
from brasstag.catalog.skills.skill_folder import SkillFiles, read_skill_folder
from brasstag.catalog.skills.skill_name import require_name, tool_id_of
from brasstag.catalog.skills.write_skill import OURS, description_of
from brasstag.words.canonical import stored_digest
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.prompt_tools import FIELDS, most_in, problems_in

MOST_LISTED = 3
"""Examples, and test cases, that a proposal may have."""
_KNOWN = frozenset({"name", "description", "allowed-tools", "metadata"})


def read_skill(folder: Path) -> dict[str, Any]:
    """Return what the skill in a folder would propose; nothing in the folder is run, and nothing is fetched.

    What a proposal needs and the skill does not have is empty. Raises ToolError where the skill cannot be read.
    """
    return skill_document(read_skill_folder(folder))


def skill_document(files: SkillFiles) -> dict[str, Any]:
    """Return the document for the files of a skill."""
    front, body = split_skill(_decoded(files.skill))
    values = read_frontmatter(front)
    name = require_name(values.get("name"))
    description = values.get("description")
    if not isinstance(description, str) or not description.strip():
        raise ToolError(
            Code.INVALID_PROPOSAL, "SKILL.md: the description is missing; it says when to use the skill"
        )
    metadata = _metadata(values)
    is_ours = f"{OURS}id" in metadata
    fields, notes = (
        _own_fields(metadata, description, body)
        if is_ours
        else _foreign_fields(name, metadata, description, body)
    )
    if "allowed-tools" in values:
        fields["guardrails"] = narrowed(fields["guardrails"], values["allowed-tools"])
    if files.folder != name:
        notes.append(f"The folder of the skill is called {files.folder}.")
    notes += _unknown(values, metadata)
    evals, more_notes = _evals(files.evals, is_ours=is_ours)
    notes += more_notes
    _require_right(fields)
    rationale = metadata.get(f"{OURS}rationale", "") if is_ours else f"Imported from the Agent Skill {name}."
    return {
        **{field: fields[field] for field in FIELDS},
        "proposalType": "new",
        "target": "project",
        "rationale": with_notes(rationale, notes, files.others),
        "examples": list(evals.examples[:MOST_LISTED]),
        "testCases": list(evals.test_cases[:MOST_LISTED]),
    }


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolError(
            Code.NOT_TEXT, f"SKILL.md is not UTF-8: byte {error.start} begins no character"
        ) from None


def _metadata(values: dict[str, FrontValue]) -> dict[str, str]:
    found = values.get("metadata")
    return found if isinstance(found, dict) else {}


def _own_fields(metadata: dict[str, str], description: str, body: str) -> tuple[dict[str, str], list[str]]:
    """Return the fields of a skill that was written here, and a note where it was changed since."""
    plain = body.replace("\r\n", "\n")
    lengths = metadata.get(f"{OURS}lengths", "")
    cut = cut_by_lengths(body, lengths) or cut_by_lengths(plain, lengths)
    fields = {
        "id": metadata[f"{OURS}id"],
        "name": metadata.get("title", ""),
        "archetype": metadata.get(f"{OURS}archetype", ""),
        "scope": metadata.get(f"{OURS}scope", ""),
    }
    if cut is not None:
        fields |= cut
        if description != description_of(cut["usageNotes"]):
            fields["usageNotes"] = description
    else:
        empty = {"usageNotes": description, "goals": "", "guardrails": "", "prompt": plain.strip()}
        fields |= empty | cut_by_headings(plain)
    is_same = stored_digest({field: fields[field] for field in FIELDS}) == metadata.get(f"{OURS}digest")
    return fields, [] if is_same else ["The skill was changed after it was exported."]


def _foreign_fields(
    name: str, metadata: dict[str, str], description: str, body: str
) -> tuple[dict[str, str], list[str]]:
    prompt = body.replace("\r\n", "\n").strip()
    sections = cut_by_headings(prompt)
    fields = {
        "id": tool_id_of(name),
        "name": metadata.get("title", "").strip() or name,
        "archetype": "",
        "scope": "project",
        "usageNotes": description.strip(),
        "prompt": prompt,
    }
    for field in ("goals", "guardrails"):
        # The prompt holds these sections, too, so one that is too long for its field is not lost.
        found = sections.get(field, "")
        fields[field] = found if len(found) <= most_in(field) else ""
    return fields, []


def _unknown(values: dict[str, FrontValue], metadata: dict[str, str]) -> list[str]:
    """Return what the frontmatter says beside the fields that are imported."""
    found: dict[str, FrontValue] = {key: value for key, value in values.items() if key not in _KNOWN}
    if "metadata" in values and not isinstance(values["metadata"], dict):
        found["metadata"] = values["metadata"]
    found |= {
        f"metadata {key}": value
        for key, value in metadata.items()
        if key != "title" and not key.startswith(OURS)
    }
    return [f"{key}: {_flat(value)}" for key, value in found.items()]


def _flat(value: FrontValue) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {text}" for key, text in value.items())
    return value if isinstance(value, str) else ", ".join(value)


def _evals(data: bytes | None, *, is_ours: bool) -> tuple[Evals, list[str]]:
    if data is None:
        return Evals(), []
    try:
        evals = read_evals(data)
    except ToolError as error:
        if is_ours:
            raise
        return Evals(), [f"Not imported: {error.message}."]
    counts = {"test cases": len(evals.test_cases), "examples": len(evals.examples)}
    cut = [
        f"{EVALS} has {count} {what}; the first {MOST_LISTED} are imported."
        for what, count in counts.items()
        if count > MOST_LISTED
    ]
    return evals, [*cut, *evals.notes]


def _require_right(fields: dict[str, str]) -> None:
    """Raise ToolError where a field is wrong; one that is empty is only missing, and a draft may be without it."""
    wrong = list(problems_in({field: text if text.strip() else "-" for field, text in fields.items()}))
    if wrong:
        raise ToolError(Code.INVALID_PROPOSAL, f"SKILL.md: {'; '.join(wrong)}", {"problems": wrong})
