import { check, type RunbookBody, see } from "./runbook-spec.ts";

const READY = "ok";
const TEST = "chat  slack  delivered";
const POLL = 'oracle_watchdog_last_poll_timestamp_seconds{validator="default"} 1795326818.2';

const STATUS_NOT_STORED =
  "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nWatchdog: the state is not stored since 2026-11-22T03:12:09.000Z: database or disk is full. It is in memory only: repair the disk before anybody restarts the watchdog.\n\nValidator      Month  Tier   Pay  Full pay is lost after an outage of  All pay is lost after an outage of";

/** Runbooks of the monitoring itself. */
export const SELF_RUNBOOKS: Readonly<Record<string, RunbookBody>> = {
  "relaywatch-target-down": {
    checks: [
      see(
        "The watchdog, on its machine. No output and exit code 7: it does not run.",
        "watchdogReady",
        READY,
      ),
      see("The relayer, the same:", "ready", READY),
      check(
        "`systemctl status oracle-watchdog icq-relayer`: exit code 78 is a bad configuration and is not restarted, 75 is restarted.",
      ),
    ],
    fix: [
      "Start what has stopped: `systemctl restart NAME`, and read its last lines first.",
      "78: `relaywatch config validate FILE` prints every error with its line.",
      "It runs and Prometheus does not reach it: the daemons listen on loopback unless `http.listen` says otherwise.",
    ],
    after: [
      "The watchdog counts the blocks of its downtime from the node's counters. The relayer answers what became due.",
    ],
  },
  "relaywatch-target-missing": {
    checks: [
      check(
        "Was the target removed on purpose? `git log` of the Prometheus configuration, and the page Status, Targets of Prometheus.",
      ),
    ],
    fix: [
      "Put it back, and reload Prometheus: `curl -X POST http://127.0.0.1:9090/-/reload`.",
      "On purpose: the alert ends a day after the last scrape. Silence it until then.",
    ],
    after: ["Rules about it can no longer fire: remove it from the dashboards' variables too."],
  },
  "relaywatch-watchdog-stopped": {
    checks: [
      see("The time of the last poll, in seconds since 1970. Compare with `date +%s`.", "attempts", POLL),
      see("Does the watchdog know why?", "watchdogReady", "polling: the last poll is 3 min old"),
    ],
    fix: [
      "Restart it. With `state_dir`, counting continues without a gap.",
      "`relaywatch status` says whether its state is stored. A disk that hangs, such as one over the network, keeps polls from ending: repair it first.",
      "It stops again: keep the log, and run a second watchdog meanwhile.",
    ],
    after: [
      "Let the supervisor restart on `/livez`.",
      "Configure `notify.dead_man`: it notices this without Prometheus.",
    ],
  },
  "relaywatch-source-stale": {
    checks: [
      see(
        "Which source?",
        "watchdogMetrics",
        'oracle_watchdog_source_up{validator="default",node="node",source="prices"} 0',
      ),
      see(
        "Its error, and since when:",
        "status",
        "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nValidator  Month  Tier  Pay  Full pay is lost after an outage of  All pay is lost after an outage of\n\nCannot see: sidecar prices  default  warning  firing  2026-11-22 05:54  connection refused",
      ),
    ],
    fix: [
      "Follow the runbook of that source: [node](cannot-see-node.md), [prices](cannot-see-prices.md), [sidecar metrics](cannot-see-sidecar-metrics.md), [chain](cannot-see-chain.md).",
      "You do not have this source: set it to null.",
    ],
    after: ["An installation that alerts on this and on `cannot-see-…` may silence one of them."],
  },
  "relaywatch-state-not-stored": {
    checks: [
      see("Since when, and why?", "status", STATUS_NOT_STORED),
      check(
        "On its machine: `df -h` and `df -i` of `state_dir` (full?), `dmesg | tail` (disk errors, a file system that became read-only), `mount` (is the disk still there?).",
      ),
    ],
    fix: [
      "Full: free space. The watchdog tries again at least every 30 s, and stores everything that is in memory. No restart is needed.",
      "Do not restart the watchdog before it stores again: memory is the only place that has what came since.",
      "Read-only, or an error of the disk: repair or mount it at the same place again. The watchdog creates no new file in the place of one that is gone.",
      "The file cannot be saved any more: copy what is left of `state_dir`, and then restart the watchdog with a new one. It begins with a first reading, so the month before it is an estimate.",
    ],
    after: [
      "`relaywatch status` does not show the line any more, and the log says `state stored again`.",
      "Give `state_dir` a disk that nothing else fills, and alert on its free space.",
    ],
  },
  "relaywatch-notifications-failing": {
    checks: [
      see(
        "Send a test to every channel, and read the error:",
        "alertsTest",
        TEST.replace("delivered", "failed: HTTP 403"),
      ),
      check("The watchdog's log: `notification failed` with channel and reason. Secrets are not in it."),
    ],
    fix: [
      "401 or 403: the token was revoked. Put the new one into its file, and restart the watchdog.",
      "Timeouts: the proxy or the firewall of the machine.",
      "Until it works, look at the page yourself, or add a second channel.",
    ],
    after: [
      "What was queued for a day at most is delivered now, oldest first.",
      "Use two channels of different companies for critical alerts.",
    ],
  },
  "relaywatch-notifications-pending": {
    checks: [
      see("Which channel does not accept?", "alertsTest", TEST.replace("delivered", "failed: HTTP 429")),
      see(
        "What is it about?",
        "alerts",
        "default  sidecar-down  critical  firing since 2026-11-22 05:54 UTC: connection refused, and the node's calls fail",
      ),
    ],
    fix: [
      "429: the receiver limits you. The watchdog waits as long as it says; raise `min_severity` of the channel when that happens often.",
      "An error of the receiver: see [relaywatch-notifications-failing](relaywatch-notifications-failing.md).",
    ],
    after: [
      "Notifications older than a day are dropped. Read the alerts of that time in the handover report.",
    ],
  },
  "relaywatch-dead-man-ping-failing": {
    checks: [
      see("Does the watchdog poll? It sends no request when it does not.", "attempts", POLL),
      check(
        "From its machine: `curl -sI` the URL of `notify.dead_man`. 404 means that the check was deleted at the monitor.",
      ),
    ],
    fix: [
      "Restore the way to the monitor, or create its check again and put the new URL into the secret file.",
    ],
    after: ["Test it: stop the watchdog for longer than the monitor's grace time, and expect its alarm."],
  },
  "relaywatch-restarting": {
    checks: [
      check(
        "`journalctl -u NAME | grep -E 'exited|fatal'`: the exit code. 1 is fatal with its reason in the last line, 75 asks for another try, 137 was killed, usually for memory.",
      ),
      see("Is it up now?", "watchdogReady", READY),
    ],
    fix: [
      "A busy port: another instance runs. Stop one.",
      "Killed for memory: raise the limit of the service; the dashboard Process has the need.",
      "The same error at each start: go back to the version before.",
    ],
    after: ["State is durable at every moment, so nothing is repaired by hand."],
  },
  "relaywatch-event-loop-slow": {
    checks: [
      check(
        "`top` on its machine: another process takes the CPU, or the machine swaps. The dashboard Process shows garbage collection and memory.",
      ),
    ],
    fix: [
      "Move the neighbour, or give the daemon a CPU of its own.",
      "Memory near its limit: raise `--max-old-space-size` or the limit of the service.",
      "Many thousand queries or validators: split them over several processes (`shards`).",
    ],
    after: ["Compare the event loop before and after on the dashboard."],
  },
  "relaywatch-rules-failing": {
    checks: [
      check(
        "The page Status, Rules of Prometheus names the rule and its error. `many-to-many matching` is two series with the same labels: two Prometheus jobs scrape the same target.",
      ),
      check("`promtool check rules *.rules.yaml` for a file that was edited by hand."),
    ],
    fix: [
      "Restore the generated files, and scrape each target in one job.",
      "`query timed out`: Prometheus has too little CPU for the windows of three days.",
    ],
    after: ["Alerts of the failing rules could not fire meanwhile. Read the watchdog's own list."],
  },
  "relaywatch-alertmanager-unreachable": {
    checks: [
      check(
        "Prometheus, Status, Runtime: the list of Alertmanagers. Empty: `alerting.alertmanagers` is wrong. `curl -s http://127.0.0.1:9093/-/ready` on its machine.",
      ),
      see(
        "Alerts of the watchdog reach people without Prometheus:",
        "alerts",
        "default  sidecar-down  critical  firing since 2026-11-22 05:54 UTC: connection refused, and the node's calls fail",
      ),
    ],
    fix: [
      "Start Alertmanager; `amtool check-config` when it refuses its configuration.",
      "Correct the target in the Prometheus configuration, and reload it.",
    ],
    after: ["Give the watchdog a channel of its own besides Alertmanager for critical alerts."],
  },
  "relaywatch-alertmanager-notifications-failing": {
    checks: [check("Alertmanager's log: `Notify for alerts failed`, with receiver, integration and status.")],
    fix: [
      "401 or 403: renew the secret in its file. Alertmanager reads it at each notification.",
      "404: the webhook or the channel was deleted.",
    ],
    after: ["Send a test alert through every receiver: `amtool alert add test severity=critical`."],
  },
  "relaywatch-dead-man": {
    checks: [
      check(
        "This alert fires always. When its receiver raised an alarm, it did not arrive: Prometheus, Alertmanager or the way to the receiver is down.",
      ),
      see("Does the watchdog itself still work? It notifies without Prometheus.", "watchdogReady", READY),
    ],
    fix: [
      "Start Prometheus, then Alertmanager, and check their disks.",
      "Both run: follow [relaywatch-alertmanager-unreachable](relaywatch-alertmanager-unreachable.md).",
    ],
    after: ["Use a receiver that is not on the same machine, and not in the same network."],
  },
};
