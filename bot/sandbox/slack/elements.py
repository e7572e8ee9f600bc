"""Block Kit's interactive elements as rules, and which of them may sit where; it must hold no block."""

from bot.sandbox.slack.objects import (
    DATE,
    OPTIONS,
    TIME,
    action_id,
    channel_id,
    confirm,
    dispatch_config,
    focus_on_load,
    initial_among_options,
    option,
    option_group,
    plain,
    slack_file,
    unique_values,
    url,
    user_id,
)
from bot.sandbox.slack.rules import (
    Check,
    Fields,
    boolean,
    exactly_one,
    integer,
    items,
    one_of,
    record,
    string,
    tagged,
    typed,
)

NAMED: Fields = {"action_id": action_id}
ASKING: Fields = {**NAMED, "confirm": confirm, "focus_on_load": focus_on_load}
WITH_HINT: Fields = {**ASKING, "placeholder": plain(150)}
TYPED_IN: Fields = {
    **NAMED,
    "placeholder": plain(150),
    "focus_on_load": focus_on_load,
    "dispatch_action_config": dispatch_config,
}
MANY: Fields = {"max_selected_items": integer(least=1, most=OPTIONS)}
A_NUMBER = r"-?\d+(\.\d+)?"

button = typed(
    "button",
    required={"text": plain(75)},
    optional={
        **NAMED,
        "url": url,
        "value": string(most=2000),
        "style": one_of("primary", "danger"),
        "confirm": confirm,
        "accessibility_label": string(most=75),
        "visible_to_user_ids": items(user_id, most=100),
    },
)
image = typed(
    "image",
    required={"alt_text": string(most=2000)},
    optional={"image_url": url, "slack_file": slack_file},
    then=(exactly_one("image_url", "slack_file"),),
)
overflow = typed(
    "overflow",
    required={"options": items(option(linked=True), most=5)},
    optional={**NAMED, "confirm": confirm},
    then=(unique_values,),
)


def menu(kind: str, *, many: bool) -> Check:
    """A select menu with its options written out, flat or in groups."""
    chosen: Fields = (
        {"initial_options": items(option(), most=OPTIONS), **MANY} if many else {"initial_option": option()}
    )
    return typed(
        kind,
        optional={
            **WITH_HINT,
            **chosen,
            "options": items(option(), most=OPTIONS),
            "option_groups": items(option_group, most=OPTIONS),
        },
        then=(exactly_one("options", "option_groups"), unique_values, initial_among_options),
    )


def picker(kind: str, initial: str, rule: Check, *, many: bool = False, extra: Fields | None = None) -> Check:
    """A menu that Slack fills itself: people, channels, conversations."""
    first: Fields = {initial: items(rule, most=OPTIONS), **MANY} if many else {initial: rule}
    return typed(kind, optional={**WITH_HINT, **first, **(extra or {})})


def choices(kind: str, *, most: int, many: bool) -> Check:
    """Radio buttons or checkboxes."""
    rich = option(rich=True)
    chosen: Fields = {"initial_options": items(rich, most=most)} if many else {"initial_option": rich}
    return typed(
        kind,
        required={"options": items(rich, most=most)},
        optional={**ASKING, **chosen},
        then=(unique_values, initial_among_options),
    )


conversation_filter: Fields = {
    "filter": record(
        required={},
        optional={
            "include": items(one_of("im", "mpim", "private", "public"), most=4),
            "exclude_bot_users": boolean,
            "exclude_external_shared_channels": boolean,
        },
    ),
    "default_to_current_conversation": boolean,
}
answerable: Fields = {"response_url_enabled": boolean}

SELECTS: Fields = {
    "static_select": menu("static_select", many=False),
    "users_select": picker("users_select", "initial_user", user_id),
    "channels_select": picker("channels_select", "initial_channel", channel_id, extra=answerable),
    "conversations_select": picker(
        "conversations_select", "initial_conversation", channel_id, extra={**answerable, **conversation_filter}
    ),
}
MULTI_SELECTS: Fields = {
    "multi_static_select": menu("multi_static_select", many=True),
    "multi_users_select": picker("multi_users_select", "initial_users", user_id, many=True),
    "multi_channels_select": picker("multi_channels_select", "initial_channels", channel_id, many=True),
    "multi_conversations_select": picker(
        "multi_conversations_select", "initial_conversations", channel_id, many=True, extra=conversation_filter
    ),
}
PICKED: Fields = {
    "radio_buttons": choices("radio_buttons", most=10, many=False),
    "checkboxes": choices("checkboxes", most=10, many=True),
    "datepicker": typed("datepicker", optional={**WITH_HINT, "initial_date": string(most=10, pattern=DATE)}),
    "timepicker": typed(
        "timepicker",
        optional={**WITH_HINT, "initial_time": string(most=5, pattern=TIME), "timezone": string(most=64)},
    ),
}
WHEN: Fields = {
    "datetimepicker": typed(
        "datetimepicker",
        optional={**ASKING, "initial_date_time": integer(least=1_000_000_000, most=9_999_999_999)},
    )
}
WRITTEN: Fields = {
    "plain_text_input": typed(
        "plain_text_input",
        optional={
            **TYPED_IN,
            "initial_value": string(most=3000),
            "multiline": boolean,
            "min_length": integer(least=0, most=3000),
            "max_length": integer(least=1, most=3000),
        },
    ),
    "number_input": typed(
        "number_input",
        required={"is_decimal_allowed": boolean},
        optional={
            **TYPED_IN,
            "initial_value": string(most=150, pattern=A_NUMBER),
            "min_value": string(most=150, pattern=A_NUMBER),
            "max_value": string(most=150, pattern=A_NUMBER),
        },
    ),
    "url_text_input": typed("url_text_input", optional={**TYPED_IN, "initial_value": url}),
    "email_text_input": typed("email_text_input", optional={**TYPED_IN, "initial_value": string(most=320)}),
}

IN_ACTIONS = tagged({"button": button, "overflow": overflow, **SELECTS, **PICKED, **WHEN})
BESIDE_SECTION = tagged({"button": button, "image": image, "overflow": overflow, **SELECTS, **MULTI_SELECTS, **PICKED})
IN_INPUT = tagged({**SELECTS, **MULTI_SELECTS, **PICKED, **WHEN, **WRITTEN})
