"""The JSON Schema of policies.yaml, for editors. It is made from the shapes, so that the two cannot disagree."""

from typing import Any

from bot.policies.shapes import PoliciesShape


def schema() -> dict[str, Any]:
    """The schema as JSON can hold it; it knows every key and the form of every value, but no relation between them."""
    made = PoliciesShape.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "ontrack policies"}
