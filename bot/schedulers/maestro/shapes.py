"""What Maestro's REST API answers, as far as it is read here; more fields may come along. Values only.

Sites replace some parts (`alerting`, `owner`), and versions spell others in two ways: those are kept as they came, and
read by `reading`.
"""

from typing import Any

from msgspec import Struct, field

OPEN = frozenset({"CREATED", "IN_PROGRESS", "PAUSED"})
FAILED = frozenset({"FAILED", "TIMED_OUT"})
QUEUED = "CREATED"
SUCCEEDED = "SUCCEEDED"
STOPPED = "STOPPED"
ENDED = FAILED | {SUCCEEDED, STOPPED}
"""Of workflow instances. A kill ends as FAILED, a stop as STOPPED."""

FATAL_STEPS = frozenset({"FATALLY_FAILED", "INTERNALLY_FAILED", "TIMED_OUT"})
"""Of steps: those that the engine does not try again by itself."""
RETRIED_STEPS = frozenset({"USER_FAILED", "PLATFORM_FAILED", "TIMEOUT_FAILED"})


class PageInfo(Struct, frozen=True):
    start_cursor: str | None = None
    end_cursor: str | None = None
    has_next_page: bool = False
    has_previous_page: bool = False


class Properties(Struct, frozen=True):
    """A workflow's properties; `run_strategy` is a map with its `rule`."""

    create_time: int | None = None
    author: Any = None
    owner: Any = None
    run_strategy: Any = None
    step_concurrency: int | None = None
    alerting: Any = None
    alerting_disabled: bool | None = None
    signal_trigger_disabled: bool | None = None
    time_trigger_disabled: bool | None = None
    description: str | None = None
    tags: Any = None


class Overview(Struct, frozen=True):
    """`failed_instances` are those that failed and were neither restarted nor unblocked."""

    workflow_id: str
    active_version_id: int | None = None
    latest_version_id: int | None = None
    default_version_id: int | None = None
    properties_snapshot: Properties | None = None
    nonterminal_instances: dict[str, int] = field(default_factory=dict)
    failed_instances: int = 0
    latest_instance_id: int | None = None


class GitInfo(Struct, frozen=True):
    origin: str | None = None
    branch: str | None = None
    sha: str | None = None
    path: str | None = None
    author: str | None = None
    timestamp: Any = None
    uncommitted_changes: Any = None


class Metadata(Struct, frozen=True):
    workflow_id: str | None = None
    workflow_version_id: int | None = None
    create_time: int | None = None
    version_author: Any = None
    git_info: GitInfo | None = None


class TimeTrigger(Struct, frozen=True):
    type: str | None = None
    cron: str | None = None
    expression: str | None = None
    timezone: str | None = None
    fuzzy_max_delay: Any = None


class Workflow(Struct, frozen=True):
    """A definition's own text; a step stands under the name of its kind."""

    id: str | None = None
    name: str | None = None
    timeout: Any = None
    criticality: str | None = None
    tags: Any = None
    time_triggers: tuple[TimeTrigger, ...] = ()
    signal_triggers: tuple[dict[str, Any], ...] = ()
    params: dict[str, Any] = field(default_factory=dict)
    steps: tuple[dict[str, Any], ...] = ()


class Extras(Struct, frozen=True):
    next_execution_time: int | None = None
    next_execution_times: tuple[int, ...] = ()


class Definition(Struct, frozen=True):
    workflow: Workflow = field(default_factory=Workflow)
    properties_snapshot: Properties = field(default_factory=Properties)
    metadata: Metadata = field(default_factory=Metadata)
    is_active: bool = False
    is_latest: bool = False
    is_default: bool = False
    modify_time: int | None = None
    enriched_extras: Extras | None = None


class ChangeLine(Struct, frozen=True):
    """Who changed what of a workflow, in a line."""

    author: Any = None
    log: str | None = None
    timestamp: int | None = None


class Changes(Struct, frozen=True):
    workflow_id: str | None = None
    timeline_events: tuple[ChangeLine, ...] = ()


class Ancestor(Struct, frozen=True):
    workflow_id: str
    instance_id: int | None = None
    run_id: int | None = None
    step_id: str | None = None
    sync: bool = True


class Initiator(Struct, frozen=True):
    """Of the second run on it is MANUAL: how the instance came about is told by its first."""

    type: str = "MANUAL"
    user: Any = None
    trigger_time: int | None = None
    timezone: str | None = None
    depth: int = 0
    ancestors: tuple[Ancestor, ...] = ()


class StepState(Struct, frozen=True):
    """`cnt` of a status and which steps, by number and times."""

    cnt: int = 0
    ref: dict[str, list[str]] = field(default_factory=dict)


class Rollup(Struct, frozen=True):
    total_leaf_count: int = 0
    overview: dict[str, StepState] = field(default_factory=dict)


class RuntimeOverview(Struct, frozen=True):
    total_step_count: int = 0
    step_overview: dict[str, Any] = field(default_factory=dict)
    rollup_overview: Rollup | None = None
    run_status: str | None = None


class StepView(Struct, frozen=True):
    workflow_run_id: int | None = None
    status: str | None = None
    start_time: int | None = None
    end_time: int | None = None


class Aggregated(Struct, frozen=True):
    workflow_instance_status: str | None = None
    step_aggregated_views: dict[str, StepView] = field(default_factory=dict)


class Instance(Struct, frozen=True):
    """A run of a workflow instance, or all of them together where it was asked for aggregated."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int = 1
    status: str = ""
    workflow_uuid: str | None = None
    correlation_id: str | None = None
    workflow_version_id: int | None = None
    run_config: dict[str, Any] = field(default_factory=dict)
    run_params: dict[str, Any] = field(default_factory=dict)
    run_properties: dict[str, Any] = field(default_factory=dict)
    timeout_in_millis: int | None = None
    params: dict[str, Any] = field(default_factory=dict)
    initiator: Initiator = field(default_factory=Initiator)
    request_time: int | None = None
    create_time: int | None = None
    start_time: int | None = None
    end_time: int | None = None
    modify_time: int | None = None
    runtime_overview: RuntimeOverview | None = None
    timeline: Any = None
    aggregated_info: Aggregated | None = None


class InstancePage(Struct, frozen=True):
    elements: tuple[Instance, ...] = ()
    page_info: PageInfo = field(default_factory=PageInfo)
    total_count: int = 0


class StepRetry(Struct, frozen=True):
    """Limits may be texts, with parameters in them."""

    error_retries: int = 0
    error_retry_limit: Any = None
    platform_retries: int = 0
    platform_retry_limit: Any = None
    timeout_retries: int = 0
    timeout_retry_limit: Any = None
    manual_retries: int = 0
    retryable: bool = False


class RuntimeState(Struct, frozen=True):
    status: str = ""
    create_time: int | None = None
    wait_signal_time: int | None = None
    wait_permit_time: int | None = None
    start_time: int | None = None
    execute_time: int | None = None
    end_time: int | None = None
    modify_time: int | None = None


class Step(Struct, frozen=True):
    """A step instance in its newest attempt. Its definition stands under the name of its kind."""

    workflow_id: str
    workflow_instance_id: int
    step_id: str
    workflow_run_id: int = 1
    step_attempt_id: int = 1
    owner: Any = None
    definition: dict[str, Any] = field(default_factory=dict)
    step_retry: StepRetry = field(default_factory=StepRetry)
    timeout_in_millis: int | None = None
    runtime_state: RuntimeState = field(default_factory=RuntimeState)
    signal_dependencies: Any = None
    signal_outputs: Any = None
    artifacts: dict[str, Any] = field(default_factory=dict)
    timeline: Any = None
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> str:
        return self.runtime_state.status


class Acted(Struct, frozen=True):
    """What an action that starts a run answers; `status` is how the start went, not how the run is."""

    workflow_id: str | None = None
    workflow_version_id: int | None = None
    workflow_instance_id: int | None = None
    workflow_run_id: int | None = None
    workflow_uuid: str | None = None
    status: str | None = None
