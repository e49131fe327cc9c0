"""What `brasstag demo` plays: real commands on a real room, in a scratch directory."""

from typing import Literal

StoryName = Literal["crew", "counter", "prompts"]


def play_story(name: StoryName, keep: str | None) -> None:
    """Play one of the stories."""
    from brasstag.surfaces.cli.demo import stage, story_counter, story_crew, story_prompts

    if name == "crew":
        stage.play(story_crew.tell, "sales", keep)
    elif name == "prompts":
        stage.play(story_prompts.tell, "novel", keep)
    else:
        stage.play(story_counter.tell, "novel", keep)
