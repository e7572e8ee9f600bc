"""The Web API's methods by name; each family has its module, and none of them writes state outside its `keep`."""

from bot.sandbox.slack.methods import chat, conversations, files, people, views
from bot.sandbox.slack.wire import Method

METHODS: dict[str, Method] = {
    **people.METHODS,
    **conversations.METHODS,
    **chat.METHODS,
    **views.METHODS,
    **files.METHODS,
}
