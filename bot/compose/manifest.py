"""The Slack app's manifest: exactly the scopes and callbacks that the product uses."""

import yaml

from bot.adapters.slack_scopes import NEEDED


def manifest_yaml(public_url: str | None) -> str:
    """The manifest as YAML, for a service that Slack reaches at `public_url`; None: it connects by Socket Mode instead."""
    endpoint = f"{public_url}/slack/events" if public_url else None
    command, request = ({"url": endpoint}, {"request_url": endpoint}) if endpoint else ({}, {})
    manifest = {
        "display_information": {
            "name": "ontrack",
            "description": "Keeps scheduled jobs on track",
            "background_color": "#1d3557",
        },
        "features": {
            "app_home": {"home_tab_enabled": True, "messages_tab_enabled": False},
            "bot_user": {"display_name": "ontrack", "always_online": True},
            "slash_commands": [
                {
                    "command": "/job-health",
                    "description": "How the jobs do, and what is open",
                    "usage_hint": "[team|job|@group] [7d|30d|since DATE] [vs previous|baseline]",
                    "should_escape": True,
                    **command,
                }
            ],
        },
        "oauth_config": {"scopes": {"bot": sorted(NEEDED)}},
        "settings": {
            "event_subscriptions": {**request, "bot_events": ["app_home_opened"]},
            "interactivity": {"is_enabled": True, **request},
            "org_deploy_enabled": False,
            "socket_mode_enabled": endpoint is None,
            "token_rotation_enabled": False,
        },
    }
    text: str = yaml.safe_dump(manifest, sort_keys=False, width=100)
    return text
