import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  copyContext,
  type Image,
  openImage,
  parseStages,
  type Stage,
} from "../support/stack/container-image.ts";
import { programPath } from "../support/stack/programs.ts";

// Not in memory: the packages of two stages are 700 MB.
const folder = mkdtempSync("/var/tmp/relaywatch-image-");
const stages = parseStages(readFileSync("deploy/container/Containerfile", "utf8"));
const commit = "0123456789abcdef0123456789abcdef01234567";
let image: Image;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const words = (json: string): readonly string[] => JSON.parse(json);
const find = (stage: Stage, name: string): string | undefined =>
  stage.instructions.find((one) => one.name === name)?.value;
const stageOf = (name: string): Stage => {
  const stage = stages.find((one) => one.name === name);
  if (stage === undefined) throw new Error(`no stage ${name}`);
  return stage;
};

/** The shell commands of a stage. What one stage copies from another is in the same file system. */
function scriptOf(stage: Stage): string {
  const lines = stage.instructions.map(({ name, value }) => {
    if (name === "WORKDIR") return `mkdir -p ${value}; cd ${value}`;
    if (name === "RUN") return value;
    if (name === "ENV") return `export ${value}`;
    if (name === "ARG") return value.startsWith("COMMIT=") ? `COMMIT=${commit}` : `export ${value}`;
    if (name !== "COPY" || value.startsWith("--from=")) return "true";
    const paths = value.split(" ");
    const to = paths.at(-1) ?? "";
    const from = paths.slice(0, -1).map((path) => (path === "." ? "/context/." : `/context/${path}`));
    return `cp -r ${from.join(" ")} ${to}`;
  });
  return lines.join("\n");
}

describe("deploy/container/Containerfile", () => {
  beforeAll(() => {
    const context = join(folder, "context");
    mkdirSync(context);
    copyContext(context);
    // The image of Node has this user.
    image = openImage(folder, context);
    image.build("getent passwd node > /dev/null || useradd -u 1000 -o -m node");
    for (const stage of stages) image.build(scriptOf(stage));
  }, 600_000);

  /** Runs a command as the image does, and returns its output. */
  async function run(script: string): Promise<string> {
    const child = image.start(script);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const code = await new Promise((done) => child.on("close", done));
    if (code !== 0) throw new Error(`exits ${String(code)}: ${output}`);
    return output;
  }
  const asNode = (command: string): string =>
    `exec setpriv --reuid node --regid node --clear-groups ${command}`;

  it("has the program on its path, with the commit of the build, for a user without rights", async () => {
    expect(find(stageOf("runtime"), "USER")).toBe("node");
    const [program = ""] = words(find(stageOf("relaywatch"), "ENTRYPOINT") ?? "[]");
    expect(JSON.parse(await run(asNode(`${program} version -o json`)))).toMatchObject({ commit });
    expect(
      await run(asNode([program, ...words(find(stageOf("relaywatch"), "CMD") ?? "[]")].join(" "))),
    ).toContain("Usage:");
    const [go = ""] = words(find(stageOf("neutron-query-relayer"), "ENTRYPOINT") ?? "[]");
    expect(await run(asNode(`${go} version`))).toContain(commit);
  });

  it("has nothing that only a build needs, and what the other files of deploy name", async () => {
    await expect(run("test -e /opt/relaywatch/node_modules/vitest")).rejects.toThrow("exits 1");
    await run(
      "test -s /opt/relaywatch/alerts/prometheus/icq-relayer.rules.yaml -a -s /opt/relaywatch/dashboards/json/icq-relayer.json",
    );
  });

  it("runs with the settings of the compose file, answers the probes, and is healthy only then", async () => {
    const health = words((find(stageOf("runtime"), "HEALTHCHECK") ?? "").replace(/^.* CMD /, "")).join(" ");
    const probes = [
      ...readFileSync("deploy/kubernetes/watchdog.yaml", "utf8").matchAll(/path: (\/\w+)/g),
    ].map(([, path]) => path);
    const paths = [...new Set([...probes, "/metrics"])];
    const output = await run(`
cd /var/lib/relaywatch
mkdir -p /run/secrets; echo token > /run/secrets/control-token
export RELAYWATCH_WATCHDOG_HTTP_LISTEN=0.0.0.0:9998 RELAYWATCH_WATCHDOG_HTTP_TOKEN_FILE=/run/secrets/control-token
${health} && exit 9
setpriv --reuid node --regid node --clear-groups relaywatch watchdog start --config /context/deploy/compose/oracle-watchdog.yaml &
pid=$!
for try in $(seq 100); do curl -sf -o /dev/null http://127.0.0.1:9998/readyz && break; sleep 0.2; done
${health}
for path in ${paths.join(" ")}; do curl -s -o /dev/null -w "$path %{http_code}\\n" http://127.0.0.1:9998$path; done
curl -s -o /dev/null -w "reload %{http_code}\\n" -X POST -H "authorization: Bearer token" http://127.0.0.1:9998/-/reload
stat -c "%U" /var/lib/relaywatch/control-token 2> /dev/null || true
kill $pid; wait $pid; echo stopped`);
    for (const path of paths) expect(output).toContain(`${path} 200`);
    expect(output).toMatch(/reload 200\n[^]*stopped\n$/);
  }, 120_000);
});

describe("other programs' files of deploy", () => {
  it("are accepted by Prometheus", () => {
    const text = readFileSync("deploy/compose/prometheus.yaml", "utf8");
    const file = join(folder, "prometheus.yaml");
    writeFileSync(file, text.replace("/etc/prometheus/linked/rules/", `${process.cwd()}/alerts/prometheus/`));
    const output = execFileSync(programPath("promtool"), ["check", "config", file], { encoding: "utf8" });
    expect(output).toMatch(/SUCCESS: \d+ rule files found/);
  });

  it("rotate a log to which a daemon goes on writing", async () => {
    const logs = mkdtempSync(join(tmpdir(), "relaywatch-logs-"));
    const log = join(logs, "relayer.log");
    const { openConfiguredLogger } = await import("../../src/platform/process/logger.ts");
    const keys = { time: "time", level: "level", message: "msg" };
    const logger = openConfiguredLogger(
      "info",
      { level: "info", format: "json", outputs: [log], keys },
      process,
    );
    logger.info("before");
    const rules = readFileSync("deploy/logrotate/relaywatch", "utf8")
      .replaceAll("/var/log/relaywatch/", `${logs}/`)
      .replace("su relaywatch relaywatch", "su root root");
    const file = join(logs, "rules");
    writeFileSync(file, rules, { mode: 0o644 });
    execFileSync(programPath("logrotate"), ["--force", "--state", join(logs, "state"), file]);
    logger.info("after");
    expect(readFileSync(log, "utf8")).toMatch(/^\{[^\n]*"after"[^\n]*\}\n$/);
    expect(readFileSync(`${log}.1`, "utf8")).toContain('"before"');
    expect(existsSync(`${log}.2`)).toBe(false);
    rmSync(logs, { recursive: true });
  });
});
