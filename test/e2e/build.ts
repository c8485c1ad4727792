import { execFileSync } from "node:child_process";

/** Builds the program that the end-to-end tests run, once. */
export function setup(): void {
  execFileSync("npm", ["run", "-s", "build"], { stdio: ["ignore", "inherit", "inherit"] });
}
