import { check, type RunbookBody, see } from "../../../platform/monitoring/alerts/runbook-spec.ts";

const HEALTHY_PRICES =
  '{"prices":{"BTC/USD":"9345012345","ETH/USD":"1780123456"},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}';
const CALLS =
  'app_oracle_responses{chain_id="neutron-1",status="Failure"} 61\napp_oracle_responses{chain_id="neutron-1",status="Success"} 1.841042e+06';

/** Runbooks of the sidecar, of the calls to it, and of prices. */
export const SIDECAR_RUNBOOKS: Readonly<Record<string, RunbookBody>> = {
  "sidecar-down": {
    reason: "connection refused (connect ECONNREFUSED 127.0.0.1:8080), and the node's calls fail",
    fault: "sidecar-killed",
    checks: [
      see(
        "On the node's machine: no output and exit code 7 means that nothing listens, 28 that it does not respond.",
        "prices",
        HEALTHY_PRICES,
      ),
      check(
        "Read the last lines before the end: `journalctl -u connect -n 100`. `failed to initialize oracle` is a configuration error, `signal: killed` in the kernel's log is a lack of memory.",
      ),
    ],
    fix: [
      "Start it: `systemctl restart connect`. It serves prices within seconds; the node needs about ten more seconds to connect again. Do not restart the node.",
      "When it ends again at once, undo the last change of its flags, its version or its market map endpoint (host and port, without http://).",
      "When the machine lacks memory or disk, free it first: the sidecar would be killed again.",
    ],
    after: [
      "Ask what a restart costs before the next planned one: `relaywatch what-if --sidecar-restart 25s`.",
      "Set `Restart=always` in the service when the process ended by itself.",
    ],
  },
  "oracle-calls-failing": {
    reason: "61 of 61 calls failed in the last 5 minutes",
    fault: "http-500",
    checks: [
      see("Failure grows with every block, Success does not:", "calls", CALLS),
      see(
        "Its class says where the call ends. `OracleClientError` is the sidecar or the way to it, `TransformPricesError` a malformed price.",
        "abci",
        'app_abci_requests{abci_method="extend_vote",chain_id="neutron-1",status="OracleClientError"} 61',
      ),
      see("Does the sidecar respond to others, and in less than a second?", "prices", HEALTHY_PRICES),
    ],
    fix: [
      "The sidecar responds to curl and not to the node: compare `oracle_address` in the node's app.toml with the sidecar's host and port. A change needs a restart of the node.",
      "It responds with an error, or only after seconds: restart the sidecar.",
      "Node and sidecar speak different versions (`v1` and `v2` of the price service): install the sidecar that the chain's release names.",
    ],
    after: [
      "Watch Failure for ten blocks: it must not grow any more.",
      "Note the blocks that were lost; the resolved message has them.",
    ],
  },
  "sidecar-slow": {
    reason: "the price response took 1204 ms",
    fault: "slow",
    checks: [
      see(
        "Time it on the node's machine, a few times, with `time` in front. A healthy one takes a few milliseconds.",
        "prices",
        HEALTHY_PRICES,
      ),
      check(
        "`top` and `iostat` on its machine: CPU, swap, and neighbours. A remote sidecar adds the network's latency to each call.",
      ),
    ],
    fix: [
      "Give it CPU: move it to the node's machine, or raise the limits of its service.",
      "Lower its log level to info: debug logs slow it down.",
      "Raise `client_timeout` from 2s to 5s only on chains that honour it. neutrond 9 ends the call after 1 s whatever the setting is.",
    ],
    after: ["Compare the dashboard's latency of the oracle call before and after the change."],
  },
  "websocket-providers-failing": {
    reason: "12 of 12 WebSocket providers fail, and 40.12 % of calls succeeded in the last 30 minutes",
    fault: "websocket-providers-down",
    checks: [
      see(
        "`read_success` grows for no provider:",
        "sidecar",
        'side_car_health_check_system_updates_total 1.2e+06\nside_car_web_socket_connection_status{provider="okx_ws",status="read_success"} 81234',
      ),
      check(
        "From the sidecar's machine, connect to two of them: `curl -sI https://stream.binance.com:443` and `curl -sI https://ws.okx.com:8443`. A name that does not resolve is DNS, a timeout is the firewall.",
      ),
    ],
    fix: [
      "Restore the network: DNS, outbound ports 443 and 8443, the proxy, the provider's address ban.",
      "Restart the sidecar when the network works and connections stay away. It reconnects by itself after ten seconds otherwise.",
      "When only some providers are blocked in your country, update the sidecar: releases change the endpoints.",
    ],
    after: [
      "Add the missing port to the firewall's configuration, not only to its running state.",
      "Add two targets to `sources.egress`, so that the next time the cause is named at once.",
    ],
  },
  "all-prices-missing": {
    reason: "the sidecar answers without any price",
    fault: "all-prices-missing",
    checks: [
      see(
        "`{}` with a timestamp that changes: the price loop runs without a result.",
        "prices",
        '{"prices":{},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}',
      ),
      check(
        "Which of the two causes is it? Every provider fails: the network. No provider is queried at all: the market map is empty, because the node's gRPC server is off or `--market-map-endpoint` is wrong.",
      ),
      see("The node still counts successes. That number cannot be trusted now.", "calls", CALLS),
    ],
    fix: [
      "Restart the sidecar: `systemctl restart connect`.",
      "Market map empty: set `[grpc] enable = true` in the node's app.toml, and `--market-map-endpoint` to its host and port without http://.",
      "Providers fail: see [websocket-providers-failing](websocket-providers-failing.md).",
    ],
    after: [
      "These blocks are lost on the chain although the node counted successes. Compare with the chain's own count in the month's report.",
    ],
  },
  "major-pairs-missing": {
    reason:
      "no price for BTC/USD, ETH/USD; USDT/USD is missing too, and most markets are converted through it",
    fault: "major-pairs-missing",
    checks: [
      see(
        "Is USDT/USD missing? Most markets are converted through it, so it is the root when many are gone.",
        "prices",
        HEALTHY_PRICES,
      ),
      check(
        "Fewer providers than the market's minimum (3 for most, 2 for NTRN/USD, 1 for USDT/USD): the dashboard's providers of a market names the markets below it.",
      ),
    ],
    fix: [
      "Restart the sidecar once. When the same pairs stay away, its providers for them fail: read its log for their names.",
      "A provider that changed its API needs a newer sidecar.",
      "No block is lost while one pair has a price: do not restart the node.",
    ],
    after: [
      "Tell the other validators when a provider fails for everybody: prices stop for the chain below two thirds of the power.",
    ],
  },
  "empty-prices-counted": {
    reason: "the sidecar answers without any price, and the node counts it as success",
    fault: "market-map-empty",
    checks: [
      see("Success grows while the sidecar has no price:", "calls", CALLS),
      see(
        "The response is empty:",
        "prices",
        '{"prices":{},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}',
      ),
      see(
        "What the month counts so far. The chain's own count is lower by these blocks:",
        "report",
        "Oracle report of 2026-11\n========================\n\nValidator  Rate        Tier  Good    Missed\n---------  ----------  ----  ------  ------\ndefault    100.0000 %  full  42,120       0",
      ),
    ],
    fix: [
      "Check that the node's gRPC server is on, and that `--market-map-endpoint` names it as host:port.",
      "Restart the sidecar, and read its first lines: `failed to query market map module on node` names the address that it tries.",
    ],
    after: [
      "The watchdog's rate of these blocks is too good. Say so in the month's report, and compare with the chain's count.",
    ],
  },
  "stale-price-timestamp": {
    reason: "the sidecar's timestamp has not changed for 14 s",
    fault: "timestamp-stale",
    checks: [
      see("Twice, a second apart: the timestamp is the same.", "prices", HEALTHY_PRICES),
      see(
        "Its price loop does not count any more; four a second are normal.",
        "sidecar",
        "side_car_health_check_system_updates_total 1.2e+06",
      ),
    ],
    fix: [
      "Keep a trace for its developers when you can wait a minute: `curl -s 127.0.0.1:6060/debug/pprof/goroutine?debug=2` (with `--run-pprof`).",
      "Restart the sidecar. Nothing else makes a hanging loop go on.",
    ],
    after: [
      "Report the version and the trace to the sidecar's project.",
      "The blocks count as good; the votes had old prices.",
    ],
  },
};
