import { check, type RunbookBody, see } from "../../../platform/monitoring/alerts/runbook-spec.ts";

const SOURCES =
  'oracle_watchdog_source_up{validator="default",node="node",source="node"} 1\noracle_watchdog_source_up{validator="default",node="node",source="prices"} 0';

/** Runbooks of connections, clocks, and of what the watchdog cannot see. */
export const SOURCE_RUNBOOKS: Readonly<Record<string, RunbookBody>> = {
  "grpc-closed": {
    reason: "connection refused (connect ECONNREFUSED 127.0.0.1:9090)",
    checks: [
      check(
        "On the node's machine: `ss -ltn | grep 9090`. Nothing listens: gRPC is off. It listens on another address: compare with `sources.grpc`.",
      ),
      check("The sidecar's log has `failed to query market map module on node` every ten seconds."),
    ],
    fix: [
      'Set `[grpc] enable = true` and `address = "0.0.0.0:9090"` in app.toml, and restart the node at a quiet time: nothing is lost until the sidecar restarts.',
      "Do not restart the sidecar before that: it would start without a market map and miss every vote.",
    ],
    after: ["Restart the sidecar in the next maintenance, so that its market map is current."],
  },
  "egress-closed": {
    reason: "no connection to api.binance.com:443, ws.okx.com:8443",
    checks: [
      check(
        "From the watchdog's machine: `curl -sI https://api.binance.com`. Does it fail there only, or on the sidecar's machine too?",
      ),
      see(
        "Prices go within two minutes when the sidecar's machine has the same problem:",
        "status",
        "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nValidator      Month  Tier   Pay  Full pay is lost after an outage of  All pay is lost after an outage of",
      ),
    ],
    fix: [
      "Only the watchdog's machine: its firewall. The votes are safe.",
      "The sidecar's machine too: DNS first, then the firewall for outbound 443 and 8443, then the provider of the network.",
    ],
    after: ["Use targets that the sidecar really needs: an alarm about another host costs sleep."],
  },
  "clock-skew": {
    reason: "the node's clock is 7 s behind",
    checks: [
      check(
        "On both machines: `timedatectl` and `chronyc tracking`. The one that is not synchronised is wrong, whichever the alert names.",
      ),
    ],
    fix: [
      "Start the time service (`systemctl enable --now chrony`), and let it step the clock: `chronyc makestep`.",
      "In a virtual machine that was suspended, step the clock once by hand.",
    ],
    after: [
      "Check the first and last hour of the month when the skew lasted over its end: blocks there may be in the wrong month.",
    ],
  },
  "cannot-see-votes": {
    reason: "neither a node nor the chain can be read",
    checks: [
      see("Which sources are down?", "watchdogMetrics", SOURCES.replaceAll("} 1", "} 0")),
      check(
        "Log in to the node's machine. You get in and the node runs: the network between it and the watchdog. You do not: the machine is down, and every block is missed.",
      ),
    ],
    fix: [
      "Machine down: start it at its provider's console, and check the disk before the node.",
      "Network: the node's metrics listen on 26660; a firewall rule or a VPN that ended closes it.",
      "Give the watchdog a second way to see votes: `chain.rest` of another node, and `consensus_address`.",
    ],
    after: ["Blocks of this time are counted when the node's page is back. Unknown ones stay unknown."],
  },
  "cannot-see-node": {
    reason: "connection refused (connect ECONNREFUSED 127.0.0.1:26660)",
    checks: [
      see(
        "The node's source is 0 and others are 1:",
        "watchdogMetrics",
        SOURCES.replace('source="node"} 1', 'source="node"} 0'),
      ),
      see(
        "Read it by hand, on its machine and on the watchdog's:",
        "calls",
        'app_oracle_responses{chain_id="neutron-1",status="Success"} 1.841042e+06',
      ),
    ],
    fix: [
      "The node is down: start it.",
      "It runs without metrics: `[instrumentation] prometheus = true` in config.toml, and restart.",
      "`Limit of concurrent requests reached (3)`: too many scrapers. Raise `max_open_connections`.",
      "The page is of another chain: `sources.node` names the wrong machine.",
    ],
    after: [
      "The blocks since the last poll are counted from the counters, unless the node restarted meanwhile.",
    ],
  },
  "cannot-see-prices": {
    reason: "connection refused (connect ECONNREFUSED 127.0.0.1:8080)",
    checks: [
      see(
        "The node's calls succeed: then the sidecar lives, and only the watchdog cannot reach it.",
        "calls",
        'app_oracle_responses{chain_id="neutron-1",status="Success"} 1.841042e+06',
      ),
      see(
        "On the sidecar's machine:",
        "prices",
        '{"prices":{"BTC/USD":"9345012345"},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}',
      ),
    ],
    fix: [
      "The node's calls fail too: see [sidecar-down](sidecar-down.md).",
      "Only the watchdog: the sidecar listens on loopback, or a firewall closes 8080. Run the watchdog on the same machine, or open the port for it.",
      "404: `sources.prices` has a path of the other version. Leave the path out, and the watchdog tries both.",
    ],
    after: ["While it lasted, missing prices could not be seen. Read the chain's count of these hours."],
  },
  "cannot-see-sidecar-metrics": {
    reason: "connection refused (connect ECONNREFUSED 127.0.0.1:8002)",
    checks: [
      see("On the sidecar's machine:", "sidecar", "side_car_health_check_system_updates_total 1.2e+06"),
      check(
        "The sidecar's configuration: `metrics.enabled`, and `metrics.prometheusServerAddress` with a host: `:8002` alone is refused.",
      ),
    ],
    fix: [
      "Set the address to `0.0.0.0:8002` or the loopback address, and restart the sidecar at a quiet time.",
      "You do not serve them: set `sources.sidecar_metrics: null`. Failing providers are then not seen.",
    ],
    after: ["No vote depends on this page."],
  },
  "cannot-see-oracle-metrics": {
    reason: "HTTP 404",
    checks: [
      check(
        "Something else listens on port 8001: `ss -ltnp | grep 8001` on that machine. Current programs serve no such page, and a refused connection is normal.",
      ),
    ],
    fix: [
      "Set `sources.oracle_metrics: null`, unless you run a version that serves it.",
      "Point it to the right port when the sidecar's own metrics were moved there.",
    ],
    after: ["Nothing was lost: the node's page has the same counters."],
  },
  "cannot-see-chain": {
    reason: "latest block: HTTP 503",
    checks: [
      check(
        "`curl -s URL/cosmos/base/tendermint/v1beta1/blocks/latest` with the URL of `chain.rest`: connection refused is an API server that is off, 501 a module that the chain does not have.",
      ),
      see(
        "The node itself is well:",
        "nodeStatus",
        '      "latest_block_height": "35120881",\n      "catching_up": false',
      ),
    ],
    fix: [
      "Set `[api] enable = true` in that node's app.toml, and restart it.",
      "A public endpoint limits your requests: use your own node.",
      "The revenue module is gone since a chain upgrade: the watchdog says so once, and uses the configured policy.",
    ],
    after: ["Check that the set and the prices on the chain are seen again in the status."],
  },
};
