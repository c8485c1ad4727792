import { describe, expect, it } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** How the folders and files of a room depend on each other. */
interface Stem {
  readonly room: string;
  /** What every poll, block or result passes, in this order. Each part imports itself and earlier parts only. */
  readonly stem: readonly string[];
  /** Features. They import the stem and themselves; only the wiring names them. */
  readonly leaves: readonly string[];
  /** Composes stem and leaves, in this order: each part may import everything above and earlier wiring. */
  readonly wiring: readonly string[];
}

const STEMS: readonly Stem[] = [
  {
    room: "src/cosmos",
    stem: ["proto", "merkle", "comet", "client-error.ts", "keyring", "client", "light-client"],
    leaves: ["fee-market"],
    wiring: ["proofs.ts", "cli"],
  },
  {
    room: "src/localnet",
    stem: ["vm", "chain", "node", "accounts", "sidecar", "ibc-relayer", "genesis", "control"],
    leaves: ["monitoring", "traffic"],
    wiring: ["network", "cli"],
  },
  {
    room: "src/relayer",
    stem: [
      "chain",
      "registry",
      "gas-budget",
      "config",
      "state",
      "result",
      "watch",
      "connection",
      "kv",
      "tx",
      "submit",
      "forecast",
      "gate",
      "health",
      "costs",
      "monitoring",
      "report",
      "api",
    ],
    leaves: ["from-env", "from-leveldb", "page"],
    wiring: [
      "chain-access.ts",
      "engine.ts",
      "relayer-history.ts",
      "preview",
      "doctor",
      "create-relayer.ts",
      "cli",
    ],
  },
  {
    room: "src/watchdog",
    stem: ["prometheus", "sources", "ledger", "policy", "conditions", "alerts", "notify", "state", "polling"],
    leaves: ["payment", "prometheus-api", "monitoring", "page", "report", "status-page"],
    wiring: ["config", "watchdog-api.ts", "api-routes.ts", "watchdog.ts", "cli"],
  },
];

const files = sourceFiles();

/** Returns the folder below the room, or the file itself when it stands in the room. */
function partOf(room: string, path: string): string {
  return path.slice(room.length + 1).split("/")[0] ?? "";
}

function isAllowed({ stem, leaves, wiring }: Stem, from: string, to: string): boolean {
  if (from === to) return true;
  const order = [...stem, ...wiring];
  if (leaves.includes(from)) return stem.includes(to);
  if (leaves.includes(to)) return wiring.includes(from);
  return order.indexOf(to) < order.indexOf(from);
}

describe.each(STEMS)("the parts of $room", (row) => {
  const { room, stem, leaves, wiring } = row;
  const inside = (path: string): boolean => path.startsWith(`${room}/`);
  const own = files.filter(({ path }) => inside(path));

  it("are all in the list, and all exist", () => {
    const parts = new Set(own.map(({ path }) => partOf(room, path)));
    expect([...parts].toSorted()).toEqual([...stem, ...leaves, ...wiring].toSorted());
  });

  it("import down only: the stem in its order, leaves the stem, and wiring the leaves", () => {
    const offences = own.flatMap(({ path, imports }) =>
      imports
        .filter(inside)
        .filter((target) => !isAllowed(row, partOf(room, path), partOf(room, target)))
        .map((target) => `${path} imports ${target}`),
    );
    expect(offences).toEqual([]);
  });

  it("have no two folders that import each other", () => {
    const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
    const edges = new Set(
      own.flatMap(({ path, imports }) =>
        imports
          .filter((target) => inside(target) && folderOf(target) !== folderOf(path))
          .map((target) => `${folderOf(path)} ${folderOf(target)}`),
      ),
    );
    const mutual = [...edges].filter((edge) => edges.has(edge.split(" ").toReversed().join(" ")));
    expect(mutual).toEqual([]);
  });
});
