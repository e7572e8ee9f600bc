"""The Slack app's manifest: exactly the scopes and callbacks that the product uses."""

import yaml

SCOPES = (
    "channels:history",
    "channels:read",
    "chat:write",
    "chat:write.public",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:write",
    "usergroups:read",
    "users:read",
    "users:read.email",
)


def manifest_yaml(public_url: str) -> str:
    """The manifest as YAML, for a service that Slack reaches at `public_url`."""
    endpoint = f"{public_url}/slack/events"
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
                    "usage_hint": "[team or job]",
                    "should_escape": True,
                    "url": endpoint,
                }
            ],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": {"request_url": endpoint, "bot_events": ["app_home_opened"]},
            "interactivity": {"is_enabled": True, "request_url": endpoint},
            "org_deploy_enabled": False,
            "socket_mode_enabled": False,
            "token_rotation_enabled": False,
        },
    }
    text: str = yaml.safe_dump(manifest, sort_keys=False, width=100)
    return text
