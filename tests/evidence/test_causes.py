"""Causes told apart: what passes by itself, and what stays, in the shapes in which each is met."""

import pytest

from bot.evidence import RetryHint, RuleSet
from tests.evidence.test_verdict import DIRECT, DURING, FRAMES, RESET, cause_of

LOST_EXECUTOR = (
    "a.SparkException: Job aborted due to stage failure: Task 7 failed 4 times, most recent failure: Lost task 7.3 "
    "in stage 3.0 (TID 4) (n executor 9): ExecutorLostFailure (executor 9 exited unrelated to the running tasks) "
    "Reason: Executor decommission\n"
)


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (FRAMES + RESET, "network.connection_reset"),
        (
            FRAMES + "psycopg.OperationalError: consuming input failed: SSL SYSCALL error: EOF detected",
            "network.connection_reset",
        ),
        (
            FRAMES
            + "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed "
            "connection without response'))",
            "network.connection_reset",
        ),
        (FRAMES + "socket.gaierror: [Errno -3] Temporary failure in name resolution", "network.dns_temporary"),
        (
            FRAMES + "requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: https://x",
            "service.unavailable",
        ),
        (
            FRAMES + "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://x",
            "service.throttled",
        ),
        (
            FRAMES
            + "botocore.exceptions.ClientError: An error occurred (ThrottlingException) when calling the X operation: "
            + "Rate exceeded",
            "service.throttled",
        ),
        (
            FRAMES + "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database is locked\n[SQL: INSERT]",
            "service.lock_conflict",
        ),
        (
            "ERROR 1213 (40001) at line 1: Deadlock found when trying to get lock; try restarting transaction\n",
            "service.lock_conflict",
        ),
        ('{"level":"error","msg":"loader failed","error":"pq: deadlock detected"}\n', "service.lock_conflict"),
        ("psql: error: connection failed: FATAL:  the database system is starting up\n", "service.database_restarting"),
        (
            FRAMES + "redis.exceptions.BusyLoadingError: Redis is loading the dataset in memory",
            "service.database_restarting",
        ),
        ("fatal: unable to access 'https://x/y.git/': The requested URL returned error: 503\n", "service.unavailable"),
        ("java.net.SocketException: Connection reset\n\tat java.net.X.read(X.java:210)\n", "network.connection_reset"),
        (
            "ERROR nextflow - Error executing process > 'A'\nCaused by:\n  Host EC2 (instance i-0abc) terminated.\n",
            "platform.spot_reclaimed",
        ),
        (
            "Query 2024_1 failed: No nodes available to run query\nerror code: NO_NODES_AVAILABLE\n",
            "platform.node_lost",
        ),
        (FRAMES + "kubernetes.ApiException: (503)\nReason: Service Unavailable\n", "service.unavailable"),
        (
            FRAMES + "google.BadRequest: 400 Transaction is aborted due to concurrent update against x",
            "service.lock_conflict",
        ),
        ("psql: error: FATAL:  sorry, too many clients already\n", "service.connections_exhausted"),
        (
            "dial tcp: lookup registry.example on 10.96.0.10:53: server misbehaving\n",
            "network.dns_temporary",
        ),
        (
            "java.net.UnknownHostException: metastore.prod: Temporary failure in name resolution\n",
            "network.dns_temporary",
        ),
        (
            "read tcp 10.0.0.2:4242->10.0.0.3:5432: read: connection reset by peer\n",
            "network.connection_reset",
        ),
        ("curl: (56) Recv failure: Connection reset by peer\n", "network.connection_reset"),
        ("npm ERR! code ECONNRESET\nnpm ERR! network aborted\n", "service.download_interrupted"),
        (
            'Failed to pull image "a:1": rpc error: code = Unknown desc = net/http: TLS handshake timeout\n',
            "service.download_interrupted",
        ),
        ("ERROR: The remote server returned an error: (503) Server Unavailable.\n", "service.unavailable"),
        (
            FRAMES
            + "databricks.sql.exc.RequestError: Error during request to server: HTTP 503 TEMPORARILY_UNAVAILABLE",
            "service.unavailable",
        ),
        (
            FRAMES
            + "snowflake.connector.errors.OperationalError: 250001 (08001): Failed to connect to DB: x.example:443. "
            + "HTTP 503: Service Unavailable",
            "service.unavailable",
        ),
        ("E: Failed to fetch http://deb.example/x.deb  503  Service Unavailable\n", "service.download_interrupted"),
        (
            'Error response from daemon: Get "https://registry.example/v2/": net/http: TLS handshake timeout\n',
            "service.download_interrupted",
        ),
        (
            "ERROR Cluster: a.SparkException: ExecutorLostFailure Reason: Container released on a *lost* node\n",
            "platform.node_lost",
        ),
        (
            FRAMES
            + "io.delta.MetadataChangedException: The metadata of the table has been changed by a concurrent update.",
            "service.commit_conflict",
        ),
        ("psql:load.sql:14: server closed the connection unexpectedly\n", "network.connection_reset"),
        (FRAMES + "acme.StoreError: read failed: Connection reset by peer", "network.connection_reset"),
        (
            FRAMES
            + "pymysql.OperationalError: (2013, 'Lost connection to MySQL server during query ([Errno 104] reset)')",
            "network.connection_reset",
        ),
        (
            "2026/01/02 03:04:05 push: write tcp 10.0.0.9:4000->10.0.0.3:5432: write: broken pipe\n",
            "network.connection_reset",
        ),
        (
            "Store::Error: PG::ConnectionBad: PQconsumeInput() SSL SYSCALL error: EOF detected\n",
            "network.connection_reset",
        ),
        ("kex_exchange_identification: read: Connection reset by peer\n", "network.connection_reset"),
        ("curl: (52) Empty reply from server\n", "network.connection_reset"),
        ("Error: getaddrinfo EAI_AGAIN api.example\n    at a (node:dns:1:2)\n", "network.dns_temporary"),
        (
            FRAMES + 'botocore.exceptions.ReadTimeoutError: Read timeout on endpoint URL: "https://b.s3.example/k"',
            "service.request_timeout",
        ),
        (
            FRAMES + "psycopg.errors.CrashShutdown: terminating connection because of crash of another server process",
            "service.database_restarting",
        ),
        ("Error from server: etcdserver: leader changed\n", "service.database_restarting"),
        (FRAMES + "kafka.errors.NotLeaderForPartitionError: [Error 6] NotLeader", "service.database_restarting"),
        (
            FRAMES + "Error: ER_LOCK_DEADLOCK: Deadlock found when trying to get lock; try restarting transaction",
            "service.lock_conflict",
        ),
        ("store.rb:14:in `run': deadlock detected (Store::DeadlockError)\n", "service.lock_conflict"),
        (
            "Unhandled exception. Data.SqlException (0x80131904): Transaction (Process ID 6) was deadlocked on lock resources\n",
            "service.lock_conflict",
        ),
        (
            "glue.ConcurrentModificationException: Update table failed due to concurrent modifications. (Service: Glue)\n",
            "service.commit_conflict",
        ),
        (
            FRAMES
            + "psycopg.OperationalError: connection failed: FATAL:  MaxClientsInSessionMode: max clients reached",
            "service.connections_exhausted",
        ),
        ("SlowDown: Please reduce your request rate.\n    at f (/a.js:1:2)\n", "service.throttled"),
        (FRAMES + "urllib.error.HTTPError: HTTP Error 503: Slow Down", "service.throttled"),
        ("AxiosError: Request failed with status code 429\n    at f (/a.js:1:2)\n", "service.throttled"),
        (FRAMES + "acme.ApiError: error 503: service unavailable", "service.unavailable"),
        ("AxiosError: Request failed with status code 503\n    at f (/a.js:1:2)\n", "service.unavailable"),
        ("##[error]Unexpected HTTP response: 502\n", "service.unavailable"),
        (
            "Error from server (ServiceUnavailable): the server is currently unable to handle the request\n",
            "service.unavailable",
        ),
        (
            FRAMES + "google.BadGateway: 502 GET https://x.example/jobs: Error 502 (Server Error)!!1",
            "service.unavailable",
        ),
        ("npm ERR! node v18\nnpm ERR! code ECONNRESET\nnpm ERR! errno ECONNRESET\n", "service.download_interrupted"),
        (
            "[ERROR] goal failed: Could not transfer artifact a:b:1 from/to c (https://r.example): Connection reset -> [Help 1]\n",
            "service.download_interrupted",
        ),
        (
            "error: failed to download from `https://crates.example/a`\n\nCaused by:\n  [56] Failure when receiving data\n",
            "service.download_interrupted",
        ),
        (
            "Unable to find image 'a:1' locally\ndocker: Error response from daemon: Get https://r.example/v2/: EOF\n",
            "service.download_interrupted",
        ),
        (
            "slurmstepd: error: *** JOB 7 ON n CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***\n",
            "platform.spot_reclaimed",
        ),
        (
            LOST_EXECUTOR,
            "platform.node_lost",
        ),
    ],
)
def test_what_passes_by_itself_is_recognised(rules: RuleSet, log: str, expected: str) -> None:
    cause = cause_of(rules, log)

    assert (cause.id, cause.retry_hint, cause.ruled_out_by) == (expected, RetryHint.LIKELY, ())


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            FRAMES + "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://x",
            "config.credentials_invalid",
        ),
        (
            FRAMES + "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://x",
            "config.object_missing",
        ),
        (
            FRAMES + "botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the X operation",
            "config.permission_denied",
        ),
        (FRAMES + "socket.gaierror: [Errno -2] Name or service not known", "config.endpoint_wrong"),
        ("java.net.UnknownHostException: metastore.prod\n\tat a.B.c(D.java:1)\n", "config.endpoint_wrong"),
        ("dial tcp: lookup db.exmaple on 10.96.0.10:53: no such host\n", "config.endpoint_wrong"),
        (
            'Error from server (Forbidden): pods is forbidden: User "x" cannot list resource "pods"\n',
            "config.permission_denied",
        ),
        (
            FRAMES
            + "google.api_core.exceptions.Forbidden: 403 Quota exceeded: Your project exceeded quota for free query "
            "bytes scanned.",
            "quota.exhausted",
        ),
        (
            FRAMES + "ssl.SSLError: [SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1000)",
            "config.endpoint_wrong",
        ),
        (FRAMES + "FileNotFoundError: [Errno 2] No such file or directory: 'orders.csv'", "data.file_missing"),
        (FRAMES + "KeyError: 'net'", "code.exception"),
        (FRAMES + "ModuleNotFoundError: No module named 'x'", "code.dependency_conflict"),
        (FRAMES + RESET + DURING + FRAMES + "KeyError: 'status'", "code.exception"),
        (FRAMES + "KeyError: 'x'" + DIRECT + FRAMES + "RuntimeError: Connection reset by peer", "code.exception"),
        (
            FRAMES + "psycopg2.OperationalError: could not connect to server: Connection refused\n",
            "network.connection_refused",
        ),
        (
            "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n",
            "code.exception",
        ),
        (
            "thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: \"Connection reset by peer\"', x.rs:4:5\n",
            "code.exception",
        ),
        (
            "Error: Cannot find module 'express'\n    at Module._resolve (node:internal/x:1:15)\n",
            "code.dependency_conflict",
        ),
        (
            "Error in library(dplyr) : there is no package called 'dplyr'\nExecution halted\n",
            "code.dependency_conflict",
        ),
        ("./load.sh: line 3: foo: command not found\n", "code.dependency_conflict"),
        (
            'Exception in thread "main" a.b.JobException: aborted\n\tat a.b(C.java:1)\nCaused by: a.NullPointerException\n',
            "code.exception",
        ),
        ("12:00:01    Got 105 results, configured to fail if != 0\n", "data.quality_check_failed"),
        ("ERROR: toomanyrequests: You have reached your pull rate limit. 429 Too Many Requests\n", "quota.exhausted"),
    ],
)
def test_what_stays_is_told_apart(rules: RuleSet, log: str, expected: str) -> None:
    cause = cause_of(rules, log)

    assert cause.id == expected
    assert cause.retry_hint is not RetryHint.LIKELY
