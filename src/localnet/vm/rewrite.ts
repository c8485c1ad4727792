import { Buffer } from "node:buffer";
import { ByteReader, ByteWriter } from "./byte-reader.ts";
import { HOOK_TABLE, HOOK_TYPES, type HookPlaces, type Variant, writeEnter, writeHookCall } from "./hooks.ts";
import { ACCOUNTING_COST, GAS_COSTS, isAccounting, OPERATOR_COST } from "./gas.ts";
import { type ByteRange, functionType, SECTION, type WasmModule } from "./module.ts";
import { I32, I64, newOperator, OP, readOperator } from "./operators.ts";
import * as rewriteHelpers from "./rewrite-helpers.ts";
import { MAX_MEMORY_PAGES } from "./static-checks.ts";
import { frameSize, type FunctionShape } from "./validate-function.ts";

/** Version of the rewriter's output. Increase the version when the output changes, so that older compiled modules are not reused. */
export const REWRITER_VERSION = 5;

/** Names of a rewritten module's exports, in which a slash precedes the names of the contract's own functions. */
export const EXPORTS = {
  memory: "memory",
  table: "table",
  /** The hook table. Plain modules have no hook table. */
  hooks: "hooks",
  gas: "gas",
  stack: "stack",
  tableIndex: "table index",
  notANumber: "not a number",
  /** Prefix before the index in a mutable global's export name. Globals are exported only if the contract's instances are reused. */
  globalPrefix: "global ",
  functionPrefix: "/",
} as const;

/** Size in bytes above which a function body calls a helper to charge gas, so that rewriting at most quadruples the body. */
const LARGE_BODY = 64 * 1024;
/** A function without calls does not count its frame up to this size (bytes), because such a function ends any recursion. */
const UNCOUNTED_FRAME = 2048;

export interface RewriteOptions {
  readonly variant?: Variant;
  /** VM gas for each host call. Default: the deployed chain's cost. */
  readonly hostCall?: bigint;
}

/**
 * Returns an equivalent module for Node's `WebAssembly` that counts gas and stack bytes. Like wasmer's metering, the code counts a basic
 * block's gas just before the operator that ends the block. NaNs are canonical, and memory is limited to 512 pages. Indices of functions,
 * types, globals and tables do not change, and all variants use the same gas. `shapes` contains the validation result of each function
 * body.
 */
export function rewriteModule(
  module: WasmModule,
  shapes: readonly FunctionShape[],
  { variant = "plain", hostCall = GAS_COSTS.hostCall }: RewriteOptions = {},
): Uint8Array {
  return new Rewriter(module, variant, hostCall).run(shapes);
}

class Rewriter {
  private readonly module: WasmModule;
  private readonly output: ByteWriter;
  private readonly globals: rewriteHelpers.Globals;
  private readonly helpers = new Map<string, number>();
  /** Hooks to call at the start and end of each function, or undefined unless the code is traced. */
  private readonly reportTo: HookPlaces | undefined;
  /** Index of the import `debug`, whose calls are removed, or undefined in traced code, because a trace shows calls of `debug`. */
  private readonly silent: number | undefined;
  private readonly hostCall: number;

  constructor(module: WasmModule, variant: Variant, hostCall: bigint) {
    this.module = module;
    this.hostCall = Number(hostCall);
    this.silent = variant === "traced" ? undefined : rewriteHelpers.indexOfDebug(module);
    const hooks =
      variant === "plain" ? undefined : { table: module.tables.length, type: module.types.length };
    this.reportTo = variant === "traced" ? hooks : undefined;
    this.output = new ByteWriter(module.bytes.length * 3);
    const first = module.globals.length;
    this.globals = {
      hooks,
      gas: first,
      stack: first + 1,
      tableIndex: first + 2,
      notANumber: first + 3,
    };
  }

  run(shapes: readonly FunctionShape[]): Uint8Array {
    const code = this.rewriteBodies(shapes);
    const { output } = this;
    output.copy(Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00));
    this.writeTypes();
    this.copySection(SECTION.import);
    this.writeFunctions();
    this.writeTables();
    this.writeMemory();
    this.writeGlobals();
    this.writeExports();
    this.writeElements();
    this.writeSection(SECTION.code, code);
    this.copySection(SECTION.data);
    return output.bytes();
  }

  private writeSection(id: number, content: ByteWriter): void {
    this.output.u8(id);
    this.output.nested(content);
  }

  private copySection(id: number): void {
    const range = this.module.sections.get(id);
    if (range === undefined) return;
    this.output.u8(id);
    this.output.varU32(range.end - range.start);
    this.output.copy(this.module.bytes, range.start, range.end);
  }

  /** Writes a section as the new item count, the original items, and the appended items. */
  private extendSection(id: number, count: number, append: (writer: ByteWriter) => void): void {
    const range: ByteRange | undefined = this.module.sections.get(id);
    const writer = new ByteWriter(range === undefined ? 64 : range.end - range.start + 64);
    writer.varU32(count);
    if (range !== undefined) {
      const reader = new ByteReader(this.module.bytes, range.start, range.end);
      reader.varU32();
      writer.copy(this.module.bytes, reader.position, range.end);
    }
    append(writer);
    this.writeSection(id, writer);
  }

  private usedHelpers(): rewriteHelpers.Helper[] {
    return [...this.helpers.keys()].map((name) => rewriteHelpers.helperOf(name));
  }

  private writeTypes(): void {
    const helpers = this.usedHelpers();
    const hooks = this.globals.hooks === undefined ? [] : HOOK_TYPES;
    this.extendSection(SECTION.type, this.firstHelperType() + helpers.length, (writer) => {
      for (const type of hooks) writer.copy(type);
      for (const { params, results } of helpers) {
        writer.u8(0x60);
        for (const types of [params, results]) {
          writer.varU32(types.length);
          for (const type of types) writer.u8(type);
        }
      }
    });
  }

  private writeFunctions(): void {
    const { module } = this;
    this.extendSection(SECTION.function, module.bodies.length + this.helpers.size, (writer) => {
      for (let at = 0; at < this.helpers.size; at++) writer.varU32(this.firstHelperType() + at);
    });
  }

  private firstHelperType(): number {
    return this.module.types.length + (this.globals.hooks === undefined ? 0 : HOOK_TYPES.length);
  }

  private writeTables(): void {
    const { hooks } = this.globals;
    if (hooks === undefined) this.copySection(SECTION.table);
    else this.extendSection(SECTION.table, hooks.table + 1, (writer) => writer.copy(HOOK_TABLE));
  }

  private writeMemory(): void {
    const writer = new ByteWriter(16);
    writer.varU32(1);
    writer.u8(0x01);
    writer.varU32(this.module.memories[0]?.minimum ?? 0);
    writer.varU32(MAX_MEMORY_PAGES);
    this.writeSection(SECTION.memory, writer);
  }

  private writeGlobals(): void {
    this.extendSection(SECTION.global, this.module.globals.length + 4, (writer) => {
      for (const type of [I64, I32, I32, I32]) {
        writer.u8(type);
        writer.u8(0x01);
        writer.u8(type === I64 ? OP.i64Const : OP.i32Const);
        writer.u8(0x00);
        writer.u8(OP.end);
      }
    });
  }

  private writeExports(): void {
    const { module, globals } = this;
    const functions = module.exports.filter(
      ({ kind, name }) => kind === "func" && rewriteHelpers.isCallable(name),
    );
    const restored = rewriteHelpers.restoredGlobals(module) ?? [];
    const hasTable = module.tables.length > 0;
    const tables = (hasTable ? 1 : 0) + (globals.hooks === undefined ? 0 : 1);
    const writer = new ByteWriter(4096);
    const add = (name: string, kind: number, index: number): void => {
      const bytes = Buffer.from(name);
      writer.varU32(bytes.length);
      writer.copy(bytes);
      writer.u8(kind);
      writer.varU32(index);
    };
    writer.varU32(functions.length + restored.length + 5 + tables);
    add(EXPORTS.memory, 2, 0);
    if (hasTable) add(EXPORTS.table, 1, 0);
    if (globals.hooks !== undefined) add(EXPORTS.hooks, 1, globals.hooks.table);
    add(EXPORTS.gas, 3, globals.gas);
    add(EXPORTS.stack, 3, globals.stack);
    add(EXPORTS.tableIndex, 3, globals.tableIndex);
    add(EXPORTS.notANumber, 3, globals.notANumber);
    for (const index of restored) add(`${EXPORTS.globalPrefix}${index}`, 3, index);
    for (const { name, index } of functions) add(`${EXPORTS.functionPrefix}${name}`, 0, index);
    this.writeSection(SECTION.export, writer);
  }

  /**
   * Writes the table's final content, with each element only once, so that instances do not write overlapping segments repeatedly.
   * If a segment is out of range, the module cannot be instantiated.
   */
  private writeElements(): void {
    const { elementSegments, tables, bytes } = this.module;
    const size = tables[0]?.minimum ?? 0;
    if (elementSegments.length === 0) return;
    const table = new Int32Array(size).fill(-1);
    for (const { offset = size, length, items } of elementSegments) {
      const reader = new ByteReader(bytes, items);
      if (offset + length <= size)
        for (let at = offset; at < offset + length; at++) table[at] = reader.varU32();
    }
    const segments = rewriteHelpers.segmentsOf(table);
    const writer = new ByteWriter(size * 3 + 64);
    writer.varU32(segments.length);
    for (const { start, end } of segments) {
      writer.u8(0);
      writer.u8(OP.i32Const);
      writer.varSigned(start);
      writer.u8(OP.end);
      writer.varU32(end - start);
      for (const index of table.subarray(start, end)) writer.varU32(index);
    }
    this.writeSection(SECTION.element, writer);
  }

  private callHelper(writer: ByteWriter, name: string): void {
    const at = this.helpers.get(name) ?? this.helpers.size;
    this.helpers.set(name, at);
    writer.u8(OP.call);
    writer.varU32(this.module.functions.length + at);
  }

  private rewriteBodies(shapes: readonly FunctionShape[]): ByteWriter {
    const { module, globals } = this;
    const bodies = new ByteWriter(module.bytes.length * 3);
    for (const [at, shape] of shapes.entries()) bodies.nested(this.rewriteBody(at, shape));
    for (const { code } of this.usedHelpers()) {
      const body = new ByteWriter(32);
      body.varU32(0);
      code(body, globals);
      body.u8(OP.end);
      bodies.nested(body);
    }
    const section = new ByteWriter(bodies.length + 8);
    section.varU32(module.bodies.length + this.helpers.size);
    section.copy(bodies.bytes());
    return section;
  }

  private rewriteBody(bodyIndex: number, shape: FunctionShape): ByteWriter {
    const { module, globals, reportTo } = this;
    const { start, end } = module.bodies[bodyIndex] ?? { start: 0, end: 0 };
    const size = frameSize(shape);
    const index = module.importedFunctions + bodyIndex;
    const isCounted = shape.calls || size > UNCOUNTED_FRAME;
    // Wrap the body in a block, so that the code after the block runs whenever the function returns.
    const hasBlock = isCounted || reportTo !== undefined;
    const writer = new ByteWriter((end - start) * 3 + 64);
    writer.copy(module.bytes, start, shape.code);
    if (isCounted) {
      this.addToStack(writer, rewriteHelpers.OP_I32_SUB, size);
      rewriteHelpers.trapWithoutStack(writer, globals);
    }
    if (reportTo !== undefined) writeEnter(writer, reportTo, index);
    if (hasBlock) {
      writer.u8(OP.block);
      writer.u8(rewriteHelpers.resultBlock(functionType(module, index)?.results ?? []));
    }
    this.rewriteOperators(writer, { start: shape.code, end }, hasBlock);
    if (isCounted) this.addToStack(writer, rewriteHelpers.OP_I32_ADD, size);
    if (reportTo !== undefined) writeHookCall(writer, "leave", reportTo);
    if (hasBlock) writer.u8(OP.end);
    return writer;
  }

  private addToStack(writer: ByteWriter, operation: number, size: number): void {
    const { stack } = this.globals;
    rewriteHelpers.globalAccess(writer, OP.globalGet, stack);
    writer.u8(OP.i32Const);
    writer.varSigned(size);
    writer.u8(operation);
    rewriteHelpers.globalAccess(writer, OP.globalSet, stack);
  }

  /** Copies a body's operators, and adds code that charges a basic block's gas before the block's last operator. */
  private rewriteOperators(writer: ByteWriter, range: ByteRange, hasBlock: boolean): void {
    const { bytes } = this.module;
    const reader = new ByteReader(bytes, range.start, range.end);
    const operator = newOperator();
    const isLarge = range.end - range.start > LARGE_BODY;
    let copied = range.start;
    let cost = 0;
    let depth = 0;
    while (!reader.eof()) {
      readOperator(reader, operator);
      const { opcode, start } = operator;
      if (isAccounting(opcode)) {
        writer.copy(bytes, copied, start);
        copied = start;
        this.charge(writer, cost + ACCOUNTING_COST, isLarge);
        cost = 0;
        if (opcode === OP.loop || opcode === OP.if) depth++;
        else if (opcode === OP.end) depth--;
        else if (opcode === OP.return && hasBlock) {
          // Branch to the end of the function, where the code releases the frame.
          writer.u8(OP.br);
          writer.varU32(depth);
          copied = reader.position;
        } else if (opcode === OP.call && operator.index === this.silent) {
          writer.u8(OP.drop);
          this.chargeByCall(writer, this.hostCall);
          copied = reader.position;
        } else if (opcode === OP.callIndirect) this.noteTableIndex(writer);
        continue;
      }
      cost += OPERATOR_COST;
      if (opcode === OP.block) depth++;
      else if (opcode === OP.memoryGrow) {
        writer.copy(bytes, copied, start);
        copied = reader.position;
        this.callHelper(writer, rewriteHelpers.GROW);
      } else if (opcode >= 0x8b)
        copied = this.replaceFloat(writer, { opcode, start, end: reader.position }, copied);
    }
    writer.copy(bytes, copied, range.end);
  }

  private charge(writer: ByteWriter, cost: number, isLarge: boolean): void {
    if (isLarge) {
      this.chargeByCall(writer, cost);
      return;
    }
    const { gas } = this.globals;
    rewriteHelpers.globalAccess(writer, OP.globalGet, gas);
    writer.u8(OP.i64Const);
    writer.varSigned(cost);
    writer.u8(rewriteHelpers.OP_I64_SUB);
    rewriteHelpers.globalAccess(writer, OP.globalSet, gas);
    rewriteHelpers.trapWithoutGas(writer, this.globals);
  }

  private chargeByCall(writer: ByteWriter, cost: number): void {
    writer.u8(OP.i64Const);
    writer.varSigned(cost);
    this.callHelper(writer, rewriteHelpers.CHARGE);
  }

  /** Appends code that records the table index, because V8 reports the same error for empty elements and wrong signatures. */
  private noteTableIndex(writer: ByteWriter): void {
    rewriteHelpers.globalAccess(writer, OP.globalSet, this.globals.tableIndex);
    rewriteHelpers.globalAccess(writer, OP.globalGet, this.globals.tableIndex);
  }

  /**
   * Adds or substitutes a helper if an operator's NaNs are not deterministic. Returns the offset up to which the operators have been
   * copied.
   */
  private replaceFloat(
    writer: ByteWriter,
    { opcode, start, end }: ByteRange & { readonly opcode: number },
    copied: number,
  ): number {
    const helper = rewriteHelpers.floatHelper(opcode);
    if (helper === undefined) return copied;
    writer.copy(this.module.bytes, copied, helper.isInstead ? start : end);
    this.callHelper(writer, helper.name);
    return end;
  }
}
