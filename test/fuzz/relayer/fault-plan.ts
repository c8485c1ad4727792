import type { RegisteredQuery } from "../../../src/relayer/registered-query.ts";
import { bankKey } from "./sim-remote.ts";
import type { SimWorld } from "./sim-world.ts";

const KINDS = [
  "remote down",
  "remote hangs",
  "remote lags",
  "local down",
  "no events",
  "events shuffled",
  "full blocks",
  "loses transactions",
  "no funds",
  "contract refuses",
] as const;
type Kind = (typeof KINDS)[number];

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

/** Draws a plan. */
export function drawPlan({ random }: SimWorld, seconds: number): FaultPlan {
  const troubles = Array.from({ length: 3 + random.int(8) }, (): Trouble => {
    const from = random.int(seconds - 10);
    const to = Math.min(seconds, from + 1 + random.int(25));
    return { kind: KINDS[random.int(KINDS.length)] ?? "no events", from, to, target: random.int(2) };
  });
  return { troubles, startOver: random.chance(0.2) ? 60 + random.int(20) : undefined };
}

/** Makes true what the plan says about this second, and now and then registers, changes or removes a query. */
export function applyPlan(world: SimWorld, plan: FaultPlan, second: number): void {
  for (const kind of KINDS) {
    for (const target of [0, 1]) {
      const isOn = plan.troubles.some(
        (one) => one.kind === kind && one.target === target && one.from <= second && second < one.to,
      );
      apply(world, { kind, target, isOn });
    }
  }
  if (plan.startOver === second) startOver(world);
  changeQueries(world);
}

/** Ends all troubles. */
export function endTroubles(world: SimWorld): void {
  applyPlanOff(world);
}

function applyPlanOff(world: SimWorld): void {
  for (const kind of KINDS) for (const target of [0, 1]) apply(world, { kind, target, isOn: false });
}

function apply(
  world: SimWorld,
  { kind, target, isOn }: { readonly kind: Kind; readonly target: number; readonly isOn: boolean },
): void {
  const { local, remotes } = world;
  const remote = remotes[target];
  switch (kind) {
    case "remote down":
      return remote?.set("down", isOn);
    case "remote hangs":
      return remote?.set("hangs", isOn);
    case "remote lags":
      return remote?.set("lags", isOn);
    case "contract refuses":
      for (const { id, type } of local.registered())
        if (type === "kv" && id % 5n === BigInt(target)) local.reject(id, isOn);
      return;
  }
  // The local chain has no two sides: one of the two drawn targets is enough.
  if (target === 1) return;
  switch (kind) {
    case "local down":
      return local.set("down", isOn);
    case "no events":
      return local.set("no-events", isOn);
    case "events shuffled":
      return local.set("events-shuffled", isOn);
    case "full blocks":
      return local.set("full-blocks", isOn);
    case "loses transactions":
      return local.set("loses-txs", isOn);
    case "no funds":
      return local.set("no-funds", isOn);
  }
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
