import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { openPrompt } from "../../../src/platform/cli/prompt.ts";

function open(isTTY: boolean): {
  readonly input: PassThrough;
  readonly prompt: ReturnType<typeof openPrompt>;
  readonly shown: () => string;
} {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = new PassThrough();
  let shown = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  return { input, prompt: openPrompt({ input, output }), shown: () => shown };
}

describe("a prompt", () => {
  it("shows the question in a terminal, and never a secret that is typed", async () => {
    const { input, prompt, shown } = open(true);
    const secret = prompt.secret("Password: ");
    input.write("correct horse\r");
    expect((await secret).reveal()).toBe("correct horse");
    const sure = prompt.confirm("Delete it? ");
    input.write("yes\r");
    expect(await sure).toBe(true);
    const second = prompt.secret("Mnemonic: ");
    input.write("battery staple\r");
    expect((await second).reveal()).toBe("battery staple");
    prompt.close();
    expect(shown()).toContain("Password: ");
    // The terminal's cursor moves in between.
    expect(shown()).toContain("Delete it? ");
    expect(shown()).toContain("yes");
    expect(shown()).not.toMatch(/horse|battery|correct/);
  });

  it("takes what is typed before the question, and keeps the question while a character is deleted", async () => {
    const { input, prompt, shown } = open(true);
    const first = prompt.answer("Name: ");
    input.write("a\r");
    expect(await first).toBe("a");
    input.write("b\rc");
    await new Promise((resolve) => setImmediate(resolve));
    expect(await prompt.answer("Place: ")).toBe("b");
    const third = prompt.answer("Time: ");
    input.write("x\u007f\r");
    expect(await third).toBe("c");
    // The line is drawn again after the deletion.
    expect(shown().split("Time: c").length).toBeGreaterThan(2);
    input.write("\u0003");
    expect(await prompt.answer("Again: ")).toBeUndefined();
  });

  it("takes one line of other input for each question, and asks nothing", async () => {
    const { input, prompt, shown } = open(false);
    input.end("first\nsecond\n");
    expect((await prompt.secret("Password: ")).reveal()).toBe("first");
    expect((await prompt.secret("Mnemonic: ")).reveal()).toBe("second");
    await expect(prompt.secret("Passphrase: ")).rejects.toThrow("the input ended before: Passphrase");
    expect(await prompt.confirm("Delete it? ")).toBe(false);
    expect(shown()).toBe("");
  });

  it("ends at Ctrl-C and Ctrl-D", async () => {
    for (const key of ["\u0003", "\u0004"]) {
      const { input, prompt } = open(true);
      const secret = prompt.secret("Password: ");
      input.write(key);
      await expect(secret).rejects.toThrow("the input ended before: Password");
    }
  });
});
