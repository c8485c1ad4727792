import { check, type RunbookBody, see } from "../../../platform/monitoring/alerts/runbook-spec.ts";

const SIGNED =
  'cometbft_consensus_latest_block_height{chain_id="neutron-1"} 3.5120881e+07\ncometbft_consensus_validator_last_signed_height{chain_id="neutron-1",validator_address="AB12"} 3.512086e+07\ncometbft_consensus_validator_power{chain_id="neutron-1",validator_address="AB12"} 100';
const NODE_STATUS = '      "latest_block_height": "35120881",\n      "catching_up": false';

/** Runbooks of the validator's nodes and of the chain. */
export const NODE_RUNBOOKS: Readonly<Record<string, RunbookBody>> = {
  "chain-halted": {
    reason: "no block for 75 s, at height 35120881",
    checks: [
      see("Twice: the height is the same, and it is not catching up.", "nodeStatus", NODE_STATUS),
      check(
        "Compare with a public endpoint or an explorer. When they go on, the chain lives and your nodes are cut off: see [node-halted](node-halted.md).",
      ),
      check(
        "Read the validators' channel: upgrades halt at a planned height, and the node's log ends with `UPGRADE NEEDED`.",
      ),
    ],
    fix: [
      "Planned upgrade: install the release that the plan names, and start the node. Resume signing within 60 minutes.",
      "Unplanned halt: wait for instructions, keep the node running, and never reset its state or its signer's.",
      "Only your nodes: restart them, and check peers and firewall.",
    ],
    after: ["No block was made, so none was lost. Check that signing goes on with the first new block."],
  },
  "node-halted": {
    reason: "no new block for 75 s, at height 35120881",
    checks: [
      see("The height does not change, while an explorer has a later one.", "nodeStatus", NODE_STATUS),
      check(
        "The node's log: `CONSENSUS FAILURE` is a software or state error, `no space left on device` the disk, `dialing failed` the peers.",
      ),
    ],
    fix: [
      "Disk full: free it, then restart the node.",
      "Consensus failure: do not restart in a loop. Search the error in the validators' channel; a wrong version needs the right binary.",
      "No peers: check the firewall for port 26656, add `persistent_peers`, restart.",
      "A node that stays behind: switch the signer to a healthy node, and never let two nodes sign with one key.",
    ],
    after: [
      "Check that the signature is back within a few blocks.",
      "Add an alarm for the disk when it was the disk.",
    ],
  },
  "node-behind": {
    reason: "the node is catching up, 412 blocks behind",
    checks: [
      see(
        "`catching_up` is true, or the height is below that of an explorer.",
        "nodeStatus",
        '      "latest_block_height": "35120469",\n      "catching_up": true',
      ),
      check(
        "Is the distance shrinking? Divide it by the blocks that it gains in a minute: that is how long it takes.",
      ),
    ],
    fix: [
      "It shrinks within minutes: wait, and leave the node alone.",
      "It does not: slow disk, too little CPU or bad peers. Stop other work on the machine first.",
      "It is hours behind: start from a recent snapshot or with state sync, with the signer stopped.",
    ],
    after: ["Find out why it fell behind; a node that catches up votes nothing."],
  },
  "not-in-validator-set": {
    reason: "the set has 20 other validators",
    checks: [
      see("The node's power is 0:", "signed", SIGNED.replace("} 100", "} 0")),
      check(
        "`neutrond q staking validator VALOPER`: `jailed: true` after downtime, `BOND_STATUS_UNBONDED` after rotation or too little stake.",
      ),
    ],
    fix: [
      "Jailed for downtime: make the node sign again first, then send `neutrond tx slashing unjail`.",
      "Tombstoned for a double sign: that key never signs again. Stop everything that uses it, and ask the DAO.",
      "Rotated out: nothing technical brings it back.",
    ],
    after: [
      "Blocks outside the set do not count as missed, and lower the month's pay in proportion.",
      "Explain it to the DAO before the next rotation.",
    ],
  },
  "not-signing": {
    reason: "the last signature is 21 blocks old",
    checks: [
      see("`last_signed_height` does not follow `latest_block_height`.", "signed", SIGNED),
      check(
        "The signer's log, and its connection to the node: port 26659 of Horcrux, `priv_validator_laddr` of TMKMS. Remote signers need Horcrux 3.3.0 or TMKMS 0.13.1 for vote extensions.",
      ),
    ],
    fix: [
      "Restart the signer, and then the node when it does not connect again.",
      "Check the clock of both machines.",
      "Never start a second signer with the same key: a double sign costs the stake, an hour of misses costs a fraction of a month.",
    ],
    after: [
      "The misses count for both rates. Read the headroom of both boundaries before the next maintenance.",
    ],
  },
  "node-not-voting": {
    reason: "no oracle call for 75 s, while the node has new blocks",
    fault: "pre-block-error",
    checks: [
      see(
        "The counters do not grow while the height does:",
        "calls",
        'app_oracle_responses{chain_id="neutron-1",status="Success"} 1.841042e+06',
      ),
      see(
        "`PreBlockError` grows when blocks cannot be prepared:",
        "abci",
        'app_abci_requests{abci_method="extend_vote",chain_id="neutron-1",status="PreBlockError"} 61',
      ),
    ],
    fix: [
      'Set `[oracle] enabled = "true"` in app.toml, in lower case, and restart the node.',
      "PreBlockError: restart the node once. When it comes back, the state or the version is wrong: ask in the validators' channel.",
    ],
    after: ["Check the first ten votes after the restart."],
  },
};
