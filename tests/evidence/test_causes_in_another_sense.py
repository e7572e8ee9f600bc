"""Words of passing causes in another sense, and beside errors that stay: they must not be taken for what passes."""

import pytest

from bot.evidence import RetryHint, RuleSet
from tests.evidence.test_verdict import FRAMES, RESET, cause_of


@pytest.mark.parametrize(
    "line",
    [
        "acme.BatchError: Too many requests in batch: 501 > 500",
        "acme.LimitError: too many connections defined in workflow",
        "acme.TokenError: Connection reset token is invalid",
        "acme.CatalogError: item 17 is temporarily unavailable",
        "acme.RoleError: account is temporarily unavailable",
        "acme.RegressionError: query slowdown detected, 3x",
        "acme.ModelError: column id is not primary key",
        "acme.PlanError: deadlock detected in task graph a -> b -> a",
        "acme.MergeError: Deadlock in merge order",
        "acme.GraphError: Node a was deleted",
        "acme.SaxError: Premature close of tag <div>",
        "acme.WindowError: HTTP 503 seen 41 times, threshold is 40",
        "acme.UploadError: 503 files were uploaded twice",
        "acme.BillingError: Rate limit reached, upgrade your plan",
        "acme.LoginError: Too many requests: too many failed logins, account locked",
        'acme.ReportError: worst message was "write tcp 1.1.1.1:1->2.2.2.2:2: write: broken pipe"',
        "acme.PageError: title of page is 503 Service Unavailable",
        "acme.TestFailure: Connection reset by peer",
        "acme.RowFailure: Connection reset by peer",
        "acme.AuthError: 503 Service Unavailable",
        "airflow.exceptions.AirflowException: Invalid connection",
        "BrokenPipeError: [Errno 32] Broken pipe",
        "redis.exceptions.ReadOnlyError: You can't write against a read only replica.",
        "redis.exceptions.ResponseError: CLUSTERDOWN Hash slot not served",
        "ssl.SSLEOFError: EOF occurred in violation of protocol (_ssl.c:1129)",
        "grpc.RpcError: code = Unavailable desc = name resolver error: produced zero addresses",
        "com.mysql.CommunicationsException: Communications link failure. The driver has not received any packets from the server.",
        "hudson.GitException: Could not read: 403 Forbidden, 503 Service Unavailable",
        "org.apache.kafka.CommitFailedException: Offset commit cannot be completed since the consumer is not part of a group",
    ],
)
def test_words_of_passing_kinds_in_another_sense_are_not_passing(rules: RuleSet, line: str) -> None:
    assert cause_of(rules, FRAMES + line).retry_hint is not RetryHint.LIKELY
    assert cause_of(rules, line + "\n").retry_hint is not RetryHint.LIKELY


@pytest.mark.parametrize(
    "log",
    [
        "ERROR Bad gateway address 10.0.0.300\n",
        "ERROR status 503 rows were rejected\n",
        "ERROR error 429 lines skipped\n",
        "ERROR note 'read tcp 1->2: connection reset by peer' found in ticket\n",
        "failed to solve: dockerfile parse error on line 3: unexpected EOF\n",
        "Connection closed by 10.0.0.9 port 22\nkey@10.0.0.9: Permission denied (publickey).\n",
        "CannotPullContainerError: failed to do request: Head https://r.example/v2/a: dial tcp 10.0.0.9:443: i/o timeout\n",
        '  Warning  Failed  2m  kubelet  Failed to pull image "a:1": unexpected EOF, then manifest unknown\n',
        "ERROR Lost executor 4 on n: Container from a bad node. Exit status: 137\n",
        'Traceback (most recent call last):\n  File "/x/pyspark/worker.py", line 2, in main\n' + RESET + "\n",
        "Error from server (ServiceUnavailable): no endpoints available for service x\n",
        "ERROR Could not transfer artifact a:b:jar:1 from/to central (https://repo.example): status: 401 Unauthorized\n",
    ],
)
def test_lines_that_only_look_like_passing_kinds_are_not_passing(rules: RuleSet, log: str) -> None:
    assert cause_of(rules, log).retry_hint is not RetryHint.LIKELY


STAYS = (
    FRAMES + "KeyError: 'net'\n",
    FRAMES + "requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://a.example\n",
    FRAMES + "pymysql.err.OperationalError: (1130, \"Host 'a' is not allowed to connect to this MySQL server\")\n",
    "Error response from daemon: manifest for a:1 not found: manifest unknown\n",
    "./load.sh: line 3: foo: command not found\n",
    "store.rb:14:in `run': undefined method `each' for nil:NilClass (NoMethodError)\n",
)
PASSES = (
    FRAMES + RESET + "\n",
    FRAMES + "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://a.example\n",
    FRAMES + "google.Forbidden: 403 Exceeded rate limits: too many api requests per user per method\n",
    FRAMES + "psycopg2.errors.DeadlockDetected: deadlock detected\n",
    "Error response from daemon: error parsing HTTP 429 response body: Too Many Requests\n",
    "ERROR Cluster '1' was terminated. Reason: SPOT_INSTANCE_TERMINATION (CLOUD_FAILURE)\n",
)


@pytest.mark.parametrize("stays", STAYS)
@pytest.mark.parametrize("passes", PASSES)
def test_what_stays_wins_over_what_passes_in_either_order(rules: RuleSet, stays: str, passes: str) -> None:
    assert cause_of(rules, passes + "INFO next step\n" + stays).retry_hint is not RetryHint.LIKELY
    assert cause_of(rules, stays + "INFO cleaning up\n" + passes).retry_hint is not RetryHint.LIKELY


@pytest.mark.parametrize("passes", PASSES)
def test_what_passes_does_not_count_where_it_was_healed_or_only_told(rules: RuleSet, passes: str) -> None:
    told = "".join(f"INFO  {line}\n" for line in passes.splitlines())

    assert cause_of(rules, told + FRAMES + "acme.Failure: totals differ\n").retry_hint is not RetryHint.LIKELY
    assert (
        cause_of(rules, passes + "INFO attempt 2 succeeded\n" + FRAMES + "acme.Failure: totals differ\n").retry_hint
        is not RetryHint.LIKELY
    )
