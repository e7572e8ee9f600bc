"""Puts together what performs the outbox: messages, views, requests to schedulers. It runs none of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.adapters.off import NoChat
from bot.adapters.slack import SlackChat
from bot.compose.ending import Senders
from bot.compose.handing import HandingRequester
from bot.compose.schedulers import Schedulers
from bot.compose.thread_url import ThreadUrl
from bot.delivery import Deliverer, Pace
from bot.delivery.fitting import FittingChat
from bot.delivery.messages import Messenger
from bot.delivery.moving import Mover
from bot.delivery.richer import RicherChat
from bot.delivery.views import Views
from bot.intake import Inbound, Outcome
from bot.policies import Policies
from bot.ports import Chat, Clock
from bot.reads import Records
from bot.store import Share, Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryParts:
    """What delivery is made of. `senders` None: everything is done when a step is called."""

    storage: Storage
    chat: SlackChat | None
    records: Records
    schedulers: Schedulers
    policies: Callable[[], Policies]
    take_in: Callable[[list[Inbound]], list[Outcome]]
    thread_url: ThreadUrl
    clock: Clock
    pace: Pace
    senders: Senders | None
    leads: Callable[[], bool]
    share: Callable[[], Share]
    poke: Callable[[datetime], None]
    handed: Callable[[datetime], None]


def delivery_side(parts: DeliveryParts) -> Deliverer:
    chat: Chat = FittingChat(chat=RicherChat(chat=parts.chat or NoChat(), clock=parts.clock))
    mover = Mover(
        storage=parts.storage,
        take_in=parts.take_in,
        fallback=lambda: parts.policies().fallback.channel,
        thread_url=parts.thread_url,
    )
    views = Views(
        storage=parts.storage,
        chat=chat,
        snapshot_of=parts.records.snapshot,
        storm_of=parts.records.storm,
        storm_page_of=parts.records.storm_page,
        clock=parts.clock,
        pace=parts.pace,
        mover=mover,
    )
    requester = HandingRequester(
        storage=parts.storage,
        schedulers=parts.schedulers.all,
        take_in=parts.take_in,
        clock=parts.clock,
        policy_of=lambda job: parts.policies().job(job),
        at_leader=parts.schedulers.local,
        leads=parts.leads,
        handed=parts.handed,
    )
    return Deliverer(
        storage=parts.storage,
        messenger=Messenger(chat=chat, snapshot_of=parts.records.snapshot, thread_of=parts.records.permalink),
        requester=requester,
        views=views,
        take_in=parts.take_in,
        clock=parts.clock,
        pace=parts.pace,
        mover=mover,
        executor=parts.senders.notes if parts.senders is not None else None,
        roots=parts.senders.roots if parts.senders is not None else None,
        poke=parts.poke,
        share=parts.share,
    )
