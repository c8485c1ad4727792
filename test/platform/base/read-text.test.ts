import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { afterAll, describe, expect, it } from "vitest";
import { readTextBody, readTextFile } from "../../../src/platform/base/read-text.ts";

const folder = mkdtempSync(join(tmpdir(), "relaywatch-read-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

function pipeNamed(name: string): string {
  const pipe = join(folder, name);
  execFileSync("mkfifo", [pipe]);
  return pipe;
}

describe("a file that is read as text", () => {
  it("is complete up to its limit, also when a character crosses the end of a chunk", () => {
    const text = `a${"ü".repeat(70_000)}`;
    expect(readTextFile(fileWith("a", text), 140_001)).toBe(text);
    expect(() => readTextFile(fileWith("a", text), 140_000)).toThrow("it exceeds 140000 bytes");
    expect(readTextFile(fileWith("empty", ""), 10)).toBe("");
    expect(readTextFile("/dev/null", 10)).toBe("");
  });

  it("is read no further than the limit when it has no size", () => {
    expect(() => readTextFile("/dev/zero", 1000)).toThrow("it exceeds 1000 bytes");
  });

  it("can be a pipe whose writer comes later and takes pauses", () => {
    const pipe = pipeNamed("slow");
    spawn("sh", ["-c", `exec > '${pipe}'; printf a; sleep 0.1; printf b`], { stdio: "ignore" });
    expect(readTextFile(pipe, 10)).toBe("ab");
  });

  it("is an error when it is a pipe that nobody writes to, instead of a wait without end", () => {
    expect(() => readTextFile(pipeNamed("silent"), 10, 50)).toThrow("nothing was written to it for 0.05 s");
  });

  it("throws for a directory and for a file that does not exist", () => {
    expect(() => readTextFile(folder, 10)).toThrow("EISDIR");
    expect(() => readTextFile(join(folder, "none"), 10)).toThrow("ENOENT");
  });
});

describe("a body that is read as text", () => {
  it("is complete up to its limit, and closes its connection above it", async () => {
    const server = createServer((_request, response) => response.end("ü".repeat(100_000)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port }: AddressInfo = Object(server.address());
    const get = async (limit: number) =>
      readTextBody((await request(`http://127.0.0.1:${port}`)).body, limit);
    expect(await get(200_000)).toHaveLength(100_000);
    await expect(get(199_999)).rejects.toThrow("the response exceeds 199999 bytes");
    server.closeAllConnections();
    server.close();
  });
});
