"""Puts together what performs the outbox: messages, views, requests to schedulers. It runs none of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.adapters.off import NoChat
from bot.compose.common import Common, TakeIn
from bot.compose.ending import Senders
from bot.compose.handing import HandingRequester
from bot.compose.schedulers import Schedulers
from bot.delivery import Deliverer, Pace
from bot.delivery.fitting import FittingChat
from bot.delivery.mails import Mailer
from bot.delivery.messages import Messenger
from bot.delivery.moving import Mover
from bot.delivery.richer import RicherChat
from bot.delivery.views import Views
from bot.ports import Chat
from bot.store import Share


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryParts:
    """What delivery is made of. `senders` None: everything is done when a step is called; `mailer` None: no mail is sent."""

    common: Common
    mailer: Mailer | None
    take_in: TakeIn
    schedulers: Schedulers
    pace: Pace
    senders: Senders | None
    share: Callable[[], Share]
    poke: Callable[[datetime], None]
    handed: Callable[[datetime], None]


def delivery_side(parts: DeliveryParts) -> Deliverer:
    chat: Chat = FittingChat(chat=RicherChat(chat=parts.common.slack or NoChat(), clock=parts.common.clock))
    mover = Mover(
        storage=parts.common.storage,
        take_in=parts.take_in,
        fallback=lambda: parts.common.policies().fallback.channel,
        thread_url=parts.common.thread_url,
    )
    views = Views(
        storage=parts.common.storage,
        chat=chat,
        snapshot_of=parts.common.records.snapshot,
        storm_of=parts.common.records.storm,
        storm_page_of=parts.common.records.storm_page,
        clock=parts.common.clock,
        pace=parts.pace,
        mover=mover,
    )
    requester = HandingRequester(
        storage=parts.common.storage,
        schedulers=parts.schedulers.all,
        take_in=parts.take_in,
        clock=parts.common.clock,
        policy_of=lambda job: parts.common.policies().job(job),
        at_leader=parts.schedulers.local,
        leads=parts.common.leads,
        handed=parts.handed,
    )
    return Deliverer(
        storage=parts.common.storage,
        messenger=Messenger(
            chat=chat, snapshot_of=parts.common.records.snapshot, thread_of=parts.common.records.permalink
        ),
        requester=requester,
        views=views,
        take_in=parts.take_in,
        clock=parts.common.clock,
        pace=parts.pace,
        mover=mover,
        mailer=parts.mailer,
        executor=parts.senders.notes if parts.senders is not None else None,
        roots=parts.senders.roots if parts.senders is not None else None,
        poke=parts.poke,
        share=parts.share,
    )
