#!/usr/bin/env node
import { createGoProgram } from "./go-program.ts";
import { runProcess } from "../platform/cli/run-process.ts";

await runProcess("neutron_query_relayer", createGoProgram);
