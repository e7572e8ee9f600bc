"""The shapes in which programs, shells, engines and orchestrators say that something failed; patterns, no judgement.

Every pattern is matched against single lines of bounded length, with bounded repeats.
"""

import re

NAME = (
    r"(?:[A-Za-z_$][\w$]{0,80}(?:\.|/|::)){0,14}[A-Za-z_$][\w$]{0,80}?"
    r"(?:Error|Exception|Failure|Fault|Timeout|Interrupt|Exit|Refused|Disconnected|NotFound|Failed|Conflict"
    r"|Denied|Expired"
    r"|Violation|Throttled|Aborted|Unavailable|Crash|Rollback|Cancelled|Canceled|Killed|SlowDown|ServerBusy"
    r"|NoSuchKey|NoSuchBucket|Unreachable|TooManyRequests)\d{0,2}(?:\$\w{1,60})?"
)
BARE = "SlowDown|ServerBusy|NoSuchKey|NoSuchBucket|TooManyRequests"
EXCEPTION = re.compile(
    rf"(?:Caused by: |Exception in thread \"[^\"\n]{{0,120}}\" |Exception: (?=[\w.]{{1,120}}(?:Error"
    rf"|Exception)\b)|Uncaught |Unhandled exception[.:]? ?|(?:\s{{0,4}}---> ))?"
    rf"(?P<type>{NAME}|{BARE})(?:\((?P<inner>[\w.$]{{1,200}})\)| \(0x[0-9A-Fa-f]{{4,10}}\))?(?:: ?(?P<message>.*)|\s*$)"
)
CAUSED = re.compile(r"\s{0,8}(?:[Cc]aused by:|---> )")
RUBY_CLASS = re.compile(r"(?P<type>(?:[A-Z]\w{0,60}::){1,8}[A-Z]\w{0,60}): (?P<message>\S.*)")
RUBY_RAISE = re.compile(r"\S{1,200}\.rb:\d{1,6}:in [`'].{1,120}?': (?P<message>.*) \((?P<type>[A-Z][\w:]{1,80})\)$")
RUBY_FRAME = re.compile(r"\s{0,8}(?:from )?\S{1,300}\.rb:\d{1,6}:in [`']")
WITHIN = re.compile(
    rf"(?<![\w.$/(])(?P<type>(?:[a-z_$][\w$]{{0,60}}\.){{1,14}}[A-Z_$]\w{{0,80}}"
    rf"|{NAME})(?:\(([\w.$]{{1,200}})\))?: (?P<message>.*)"
)
PLAIN_TYPE = re.compile(r"(?P<type>[A-Za-z_][\w.]{0,200})(?:: ?(?P<message>.*)|\s*$)")
TRACEBACK = re.compile(r"\s{0,8}(?:\+ Exception Group )?Traceback \(most recent call last\):")
FRAME = re.compile(
    r"\s{0,12}(?:File \"|at (?:\S{1,300}\(|\S{1,200} \()|\.{3} \d{1,6} (?:more|common)|Suppressed: |\^|~[~^]|\| )"
)
HEAD = re.compile(
    r"\s{0,12}(?:> )?(?:"
    r"(?:fatal|error|FATAL|Error|ERROR|panic|Fatal error|fatal error|FAILED|Failure|ERR!|npm ERR!|npm error|\[error\]"
    r"|##\[error\]|E:|\*\*\*)(?:\[[\w.:-]{1,40}\])?:? "
    r"|\[error\] ?|##\[error\] ?|Error in .{1,200}? : ?|Error response from daemon: "
    r"|Query \S{1,80} failed: |Execution failed: |(?:ERROR"
    r"|FATAL) \d{1,6}(?: \(\w{1,10}\))?(?: at line \d{1,8})?: |mysqldump: (?=Got error)"
    r"|(?:psql|pg_dump|pg_restore|curl|wget|rsync|ssh|scp|gzip|tar|aws|gsutil|bq|git|docker|kubectl|helm|make"
    r"|cp|mv|rm|cat|sh|bash|slurmstepd|sbatch|srun)(?::[^\s:]{1,120}:\d{1,8})?: "
    r"|(?:Access denied|Permission denied|[Uu]nable to|Cannot|[Cc]ould not|Couldn't|Can't|[Ff]ailed to) "
    r"|(?:kex|ssh)_exchange_identification: |client_loop: |Connection (?:reset|closed) by |rsync error: |go: \S{1,200}: "
    r"|Operation cannot be fulfilled on |The connection to the server |(?:upload|download|copy|move) failed: "
    r"|remote: (?=Repository not found|Internal|Permission|HTTP)|.{1,160}(?: failed|Exception|Error): (?:ERROR|FATAL): "
    r"|thread '[^'\n]{0,80}' panicked at "
    r"|\[?(?:ORA|DB2|SQL|TNS|PLS)-?\d{4,5}[NE]?\]?:? "
    r")"
)
DBT = re.compile(
    r"\s{0,6}(?:(?P<kind>Database|Runtime|Compilation|Parsing|Dependency|Validation) Error(?: in .{1,200})?"
    r"|Failure in test .{1,200}"
    r"|Encountered an error:?|.{0,80}(?P<own>Compilation Error) in .{1,200})$"
)
EVENT = re.compile(
    r"\s{0,6}(?:\d{1,4}[smhd]\S{0,12}\s{1,12})?Warning\s{1,12}(?P<type>\w{1,60})\s{1,12}(?P<message>\S.*)"
)
STATUS = re.compile(r"\s{0,8}(?:- )?(?:[Rr]eason|last_termination_reason):\s{1,12}(?P<type>[A-Z]\w{2,60})\s*$")
ABRUPT = re.compile(
    r".{0,200}?(?:terminated by signal \d|exited with code -\d|died unexpectedly with exit code"
    r"|Segmentation fault|core dumped"
    r"|: command not found|: No such file or directory|: Permission denied|OOMKilled|oom-kill|Out of memory: Kill"
    r"|\bKilled\b(?: {2,}\S|$)|Spot Task was interrupted|was preempted|no longer receives updates from VM|Aborting task"
    r"|No space left on device|cannot allocate memory"
    r"|Unable to acquire lock|Negsignal\.|goroutine \d{1,6} \[running\])",
    re.IGNORECASE,
)
GO = re.compile(
    r".{0,300}?(?:^|: )(?:googleapi: Error \d{3}: |Error \d{3,5}: |rpc error: code = |dial tcp:? "
    r"|context deadline exceeded|pq: |read tcp |write tcp |driver: bad connection$)"
)
RETRYING = re.compile(
    r"\bretry(?:ing)?\b|\bwill (?:be )?retr|\bretried\b|\battempt(?: number)?:? \d|\btry \d", re.IGNORECASE
)
PANIC = re.compile(r"panic: |thread '[^'\n]{0,80}' panicked at ")
DIRECT = "The above exception was the direct cause of the following exception"
DURING = "During handling of the above exception, another exception occurred"
WRAPPER = re.compile(
    r"\s*(?:~ )?(?:"
    r".{0,120}\b(?:exit(?:ed)?(?: with)?(?: (?:a )?non-?zero)?(?: exit)?(?: (?:code|status))?:? ?-?\d{1,3}"
    r"|exit status \d{1,3})\.?\s*$"
    r"|.{0,60}\bjob failed, see\b|.{0,40}Process completed with exit code|Task failed with exception"
    r"|.{0,60}\bMarking (?:task|run)\b"
    r"|.{0,120}\bfailed \d{1,4} times; aborting job|Command exited with|Bash command failed|BUILD FAILURE|Tests run:"
    r"|\[?\d{0,5} ?of \d{1,5} (?:ERROR|FAIL|SKIP)\b|\d{1,5} of \d{1,5} (?:ERROR|FAIL)|Completed with \d"
    r"|Done\. PASS|creating sql "
    r"|Failed at executing callback|Failed to execute (?:job|task)(?! \d{1,12} for task .{1,200} \()|Error executing process"
    r"|Command error|Unable to find image '.{1,200}' locally|npm (?:ERR!|error) (?:Linux|Darwin|Windows_NT|argv|node v|npm {1,2}v"
    r"|path|errno|syscall|cwd|A complete log)|fatal: [Tt]he remote end hung up unexpectedly|fatal: Could not read from remote"
    r"|script returned exit code|rsync error: error in rsync protocol data stream|E: Unable to fetch some archives"
    r"|E: Some index files failed|ERROR: Exception:|.{0,200}\bafter \d{1,3} attempts?\.?\s*$"
    r"|(?:##\[error\])?Failed to download (?:archive|action) |\d{1,6} files?/objects? could not be transferred"
    r"|Execution halted"
    r"|Back-?off\b|BackoffLimitExceeded|.{0,40}Crash detected! Execution was cancelled by the runtime"
    r"|Received SIGTERM|Task received SIGTERM|.{0,40}child process .{0,60}returned|Unable to load native-hadoop"
    r"|.{0,40}(?:Job aborted due to stage failure|Writing job failed|User class threw exception"
    r"|Exception thrown in awaitResult)"
    r"|.{0,100}non-zero exit code|.{0,60}finished with \d{1,4} failures?|.{0,60}terminated with error$"
    r"|Finished in state Failed"
    r"|(?!.{0,60}\b[45]\d\d\b)(?:\S{1,60} ){0,7}\S{0,60}(?:[Ff]ailed|FAILED|[Ff]ailure|[Aa]borted"
    r"|[Ee]xception|[Ee]rror|excepted)[.:]?\s*$"
    r"|Exiting because a job execution failed|Error: The process '.{1,200}' failed with exit code"
    r"|Command `.{1,80}` failed|Steps failed|shutting down|rolled back|exit\s*$|failed\s*$"
    r")"
)
QUIET = re.compile(
    r"\d{1,5} (?:errors?|failures?|warnings?)\b.{0,80}$|no errors\b|without errors?\b|\berrors?[ =:]{1,3}0\b",
    re.IGNORECASE,
)
AFTERWARDS = re.compile(r"\s{0,8}(?:Removing|Exiting|Shutting|cleanup|\+ |=====|---|\[job|INFO|DEBUG|uploading)")
CONTINUES = re.compile(
    r"\s(?!\s{0,8}from \S{1,200}:in )|[A-Z][A-Za-z ]{1,30}(?: \d{1,6})?: |[a-z_]{2,20}: {1,2}|\[|\(|\{|\* |- |\d{1,3}: "
)
POINTS = re.compile(r"\s{0,8}LINE \d{1,8}: |\s{1,400}\^\s{0,4}$")
OPEN_END = re.compile(r"[:,(\[{]\s{0,4}$")
LOST_TASK = re.compile(
    rf"most recent failure: Lost task [^\n]{{1,200}}?: (?P<type>{NAME})(?:: | (?=\(executor )|$)(?P<message>.*)"
)
