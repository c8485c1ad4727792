import type { RegisteredQuery } from "../../../src/relayer/registry/registered-query.ts";
import { bankKey, type RemoteFault } from "./sim-remote.ts";
import type { SimWorld } from "./sim-world.ts";

type Kind =
  | "remote down"
  | "remote hangs"
  | "remote lags"
  | "local down"
  | "no events"
  | "events shuffled"
  | "full blocks"
  | "loses transactions"
  | "no funds"
  | "contract refuses";

/** Something that goes wrong from one second to another. */
interface Trouble {
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
  readonly target: number;
}

/** What happens in the first `seconds` of a simulation. */
export interface FaultPlan {
  readonly troubles: readonly Trouble[];
  /** Second in which all chains start over, if they do. */
  readonly startOver: number | undefined;
}

/** Makes a trouble be for these targets and not be for others. The local chain has no two sides: any target will do. */
const EFFECTS: Readonly<Record<Kind, (world: SimWorld, targets: readonly number[]) => void>> = {
  "remote down": (world, targets) => setRemotes(world, "down", targets),
  "remote hangs": (world, targets) => setRemotes(world, "hangs", targets),
  "remote lags": (world, targets) => setRemotes(world, "lags", targets),
  "local down": ({ local }, targets) => local.set("down", targets.length > 0),
  "no events": ({ local }, targets) => local.set("no-events", targets.length > 0),
  "events shuffled": ({ local }, targets) => local.set("events-shuffled", targets.length > 0),
  "full blocks": ({ local }, targets) => local.set("full-blocks", targets.length > 0),
  "loses transactions": ({ local }, targets) => local.set("loses-txs", targets.length > 0),
  "no funds": ({ local }, targets) => local.set("no-funds", targets.length > 0),
  "contract refuses": ({ local }, targets) => {
    for (const { id, type } of local.registered())
      if (type === "kv") local.reject(id, targets.includes(Number(id % 5n)));
  },
};

function setRemotes({ remotes }: SimWorld, fault: RemoteFault, targets: readonly number[]): void {
  for (const [index, remote] of remotes.entries()) remote.set(fault, targets.includes(index));
}

const KINDS = Object.keys(EFFECTS).filter((kind): kind is Kind => kind in EFFECTS);

/** After this long the relayer has seen that the chains started over. */
const SEEN_SECONDS = 8;

/** Draws a plan. */
export function drawPlan({ random }: SimWorld, seconds: number): FaultPlan {
  const troubles = Array.from({ length: 3 + random.int(8) }, (): Trouble => {
    const from = random.int(seconds - 10);
    const to = Math.min(seconds, from + 1 + random.int(25));
    return { kind: KINDS[random.int(KINDS.length)] ?? "no events", from, to, target: random.int(2) };
  });
  const second = random.chance(0.2) ? 60 + random.int(20) : undefined;
  if (second === undefined) return { troubles, startOver: undefined };
  // A chain that started over is known by its lower height, so somebody has to see that: no trouble hides it.
  const others = troubles.filter(({ from, to }) => to <= second || from > second + SEEN_SECONDS);
  return { troubles: others, startOver: second };
}

/** Makes true what the plan says about this second, and now and then registers, changes or removes a query. */
export function applyPlan(world: SimWorld, plan: FaultPlan, second: number): void {
  const now = plan.troubles.filter(({ from, to }) => from <= second && second < to);
  for (const kind of KINDS)
    EFFECTS[kind](
      world,
      now.filter((one) => one.kind === kind).map(({ target }) => target),
    );
  if (plan.startOver === second) startOver(world);
  changeQueries(world);
}

/** Ends all troubles. */
export function endTroubles(world: SimWorld): void {
  for (const kind of KINDS) EFFECTS[kind](world, []);
}

function startOver({ local, remotes }: SimWorld): void {
  for (const remote of remotes) {
    remote.startOver();
    remote.tick([]);
  }
  local.startOver();
  local.set("no-events", true);
  local.set("no-events", false);
}

function changeQueries({ local, random }: SimWorld): void {
  const kv = local.registered().filter(({ type }) => type === "kv");
  const any = (): RegisteredQuery | undefined => kv[random.int(kv.length)];
  if (random.chance(0.05)) local.remove(any()?.id ?? 0n);
  if (random.chance(0.05)) local.update(any()?.id ?? 0n, BigInt(1 + random.int(9)));
  if (!random.chance(0.1)) return;
  const connectionId = `connection-${random.int(2)}`;
  const keys = [{ path: "bank", key: bankKey(random.int(9)) }];
  local.register({ type: "kv", connectionId, updatePeriod: BigInt(1 + random.int(5)), keys });
}
