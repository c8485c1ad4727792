import { readUint64BigEndian, uint64BigEndian, utf8 } from "../../src/platform/base/bytes.ts";
import { isRecord } from "../../src/platform/base/json.ts";
import type { Application } from "../../src/localnet/chain/runtime/abci.ts";
import { createConsensusModule } from "../../src/localnet/chain/modules/consensus/module.ts";
import { createApplication } from "../../src/localnet/chain/runtime/application.ts";
import type { Context, ChainModule } from "../../src/localnet/chain/runtime/context.ts";
import type { Upgrade } from "../../src/localnet/chain/runtime/upgrade.ts";
import type { StateStorage } from "../../src/localnet/chain/store/multi-store.ts";

const COUNT = utf8("count");
const STARTED = utf8("started");

/** A program of some release: counters, each a module with a store of its name. */
export interface CounterProgram {
  readonly counters: readonly string[];
  readonly upgrades?: readonly Upgrade[];
}

/**
 * Creates an application whose modules count blocks. The default genesis of a module starts at 1,000 and notes height and
 * time of its start. "/<module>/Count" returns "<count> <height> <time>".
 */
export function createCounterApplication(program: CounterProgram, storage?: StateStorage): Application {
  return createApplication(
    {
      version: "1",
      appVersion: 0n,
      chainName: "neutron",
      modules: [createConsensusModule({ authority: "" }), ...program.counters.map(counterModule)],
      upgrades: program.upgrades ?? [],
      endBlockOrder: [],
      ante: () => undefined,
      post: () => undefined,
      maxBlockGas: () => 0n,
      keepRecent: 10,
    },
    storage,
  );
}

function counterModule(name: string): ChainModule {
  const read = (context: Context): bigint => {
    const bytes = context.store(name).get(COUNT);
    if (bytes === undefined) throw new Error(`${name} was not started`);
    return readUint64BigEndian(bytes);
  };
  const startOf = (context: Context): string =>
    new TextDecoder().decode(context.store(name).get(STARTED) ?? new Uint8Array());
  return {
    name,
    stores: [name],
    messages: [],
    queries: [{ path: `/${name}/Count`, query: (context) => utf8(`${read(context)} ${startOf(context)}`) }],
    endBlock: (context) => context.store(name).set(COUNT, uint64BigEndian(read(context) + 1n)),
    initGenesis: (context, genesis) => {
      const given = isRecord(genesis) ? genesis : {};
      const { count = "1000", started = `${context.height} ${context.timeNs}` } = given;
      if (typeof count !== "string" || typeof started !== "string") throw new Error(`${name}: strings`);
      context.store(name).set(COUNT, uint64BigEndian(BigInt(count)));
      context.store(name).set(STARTED, utf8(started));
    },
    exportGenesis: (context) => ({ count: read(context).toString(), started: startOf(context) }),
  };
}
