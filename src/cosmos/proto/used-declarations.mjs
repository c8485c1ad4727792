// Part of generate.mjs: removes the declarations that the program does not use from the generated files.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** An import or re-export of names, or of a namespace. */
const IMPORT = /\b(?:import|export) (type )?(?:\{([^}]*)\}|\* as (\w+)) from "(\.[^"]+)"/g;
const WORD = /[A-Za-z_$][\w$]*/g;
/** A dynamic import, which can use every declaration in a file. */
const DYNAMIC_IMPORT = /\bimport\("(\.[^"]+)"\)/g;
const MAX_WIDTH = 120;

/** What codecs import from outside the generated files: from a package, or from a path relative to `folder`. */
const RUNTIME = [
  { module: "@bufbuild/protobuf/wire", specifiers: [{ text: "BinaryWriter", isType: false }] },
  {
    path: "../message-fns.ts",
    specifiers: [
      { text: "decodeFields", isType: false },
      { text: "MessageFns", isType: true },
      { text: "MessageReader", isType: true },
    ],
  },
];

/**
 * Removes the declarations that `programFiles` do not reach from the generated files `genFiles` in `folder`. A type that is only
 * imported as a type loses its codec. `locate` maps a path that the program imports to a path in `genFiles`. Returns the files
 * that still contain declarations.
 */
export function retainUsed(folder, genFiles, programFiles, locate) {
  const modules = new Map(genFiles.map((file) => [file, parseModule(file)]));
  const used = new Map(genFiles.map((file) => [file, new Set()]));
  const pending = programFiles.flatMap((file) => usesOf(file, modules, locate));
  for (let use = pending.pop(); use !== undefined; use = pending.pop())
    if (markUsed(use, modules, used)) pending.push(...referencesOf(use, modules.get(use.file)));
  const retained = genFiles.filter((file) => used.get(file).size > 0);
  for (const file of retained) writeFileSync(file, printModule(folder, modules.get(file), used));
  return retained;
}

/** Splits a generated file into its header, its imported names and its top-level declarations. */
function parseModule(file) {
  const [head = "", ...rest] = readFileSync(file, "utf8").split(/\n(?=(?:\/\*\*|export |function ))/);
  const imports = namedImports(head, file);
  return {
    file,
    header: head.slice(0, head.indexOf("\nimport ")),
    imports,
    declarations: declarationsIn(rest),
  };
}

/** Joins each comment to its declaration. A key is a kind and a name, because a message's type and codec have the same name. */
function declarationsIn(chunks) {
  const declarations = new Map();
  let comment = "";
  for (const chunk of chunks) {
    if (chunk.startsWith("/**") && !/\n(?:export |function )/.test(chunk)) {
      comment += `${chunk}\n`;
      continue;
    }
    const [, keyword, name] = /^(?:export )?(interface|type|namespace|const|function) (\w+)/m.exec(chunk);
    const kind = ["interface", "type"].includes(keyword) ? "type" : keyword;
    declarations.set(`${kind} ${name}`, `${comment}${chunk}`.trimEnd());
    comment = "";
  }
  return declarations;
}

/** Returns the names that a text imports from relative paths: a map from local name to file and exported name. */
function namedImports(text, file) {
  const imports = new Map();
  for (const [, isType, names = "", , path] of text.matchAll(IMPORT))
    for (const { name, alias, type } of splitNames(names, isType))
      imports.set(alias, { file: resolve(dirname(file), path), name, type });
  return imports;
}

function splitNames(names, isType) {
  return names
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "")
    .map((each) => {
      const [name, alias = name] = each.replace(/^type /, "").split(" as ");
      return { name, alias, type: isType !== undefined || each.startsWith("type ") };
    });
}

const COMMENT = /^\s*\/\*\*[\s\S]*?\*\/$|(?<=^|\s)\/\/.*$/gm;

/** Returns the declarations that a program file uses. Names in its comments are ignored. */
function usesOf(file, modules, locate) {
  const text = readFileSync(file, "utf8").replaceAll(COMMENT, "");
  const uses = [...namedImports(text, file).values()].map((use) => ({ ...use, file: locate(use.file) }));
  for (const [statement, isType, , namespace, path] of text.matchAll(IMPORT)) {
    if (namespace === undefined) continue;
    const target = locate(resolve(dirname(file), path));
    for (const name of membersOf(namespace, text.replace(statement, ""), modules.get(target)))
      uses.push({ file: target, name, type: isType !== undefined });
  }
  for (const [, path] of text.matchAll(DYNAMIC_IMPORT)) {
    const target = locate(resolve(dirname(file), path));
    for (const name of namesOf(modules.get(target))) uses.push({ file: target, name, type: false });
  }
  return uses.filter((use) => modules.has(use.file));
}

/** Returns the members of a namespace that a text uses; all members if the namespace is also used on its own. */
function membersOf(namespace, text, module) {
  const uses = [...text.matchAll(new RegExp(`(?<![.\\w])${namespace}\\b(?:\\.(\\w+))?(?!:)`, "g"))];
  return uses.flatMap(([, name]) => (name === undefined ? namesOf(module) : [name]));
}

function namesOf(module) {
  return module === undefined ? [] : [...module.declarations.keys()].map((key) => key.split(" ")[1]);
}

/** Marks a declaration as used. Returns true if it was not marked before. */
function markUsed({ file, name, type }, modules, used) {
  const { declarations } = modules.get(file);
  const keys = (type ? ["type"] : ["type", "const", "function"])
    .map((kind) => `${kind} ${name}`)
    .filter((key) => declarations.has(key));
  const isNew = keys.some((key) => !used.get(file).has(key));
  for (const key of keys) used.get(file).add(key);
  return isNew;
}

/** Returns the declarations that a declaration names. A type needs only types, except after `typeof`. */
function referencesOf({ file, name, type }, { imports, declarations }) {
  const references = [];
  for (const kind of type ? ["type"] : ["type", "const", "function"]) {
    const text = declarations.get(`${kind} ${name}`) ?? "";
    const isType = kind === "type" && !text.includes("typeof ");
    for (const [word] of text.matchAll(WORD)) {
      if (imports.has(word)) references.push({ ...imports.get(word), type: isType });
      else references.push({ file, name: word, type: isType });
    }
  }
  return references;
}

/** Prints a file's used declarations and the imports that they need. */
function printModule(folder, { file, header, imports, declarations }, used) {
  const body = [...declarations].filter(([key]) => used.get(file).has(key)).map(([, text]) => text);
  const words = new Set(body.flatMap((text) => text.match(WORD)));
  const needed = [...imports].filter(([alias]) => words.has(alias));
  const lines = [...runtimeImports(folder, file, words), ...importLines(file, needed, used)];
  return `${[[header, ...lines].join("\n"), ...body].join("\n\n")}\n`;
}

function runtimeImports(folder, file, words) {
  return RUNTIME.flatMap(({ module, path, specifiers }) => {
    const needed = specifiers.filter(({ text }) => words.has(text));
    const from = module ?? relative(dirname(file), join(folder, path));
    return needed.length === 0 ? [] : [importLine(needed, from)];
  });
}

/** Returns one import line per file, in ts-proto's order. A name whose codec was removed is imported as a type. */
function importLines(file, imports, used) {
  const files = [...new Set(imports.map(([, target]) => target.file))];
  return files.map((target) => {
    const names = imports.filter(([, each]) => each.file === target);
    const specifiers = names.map(([alias, { name }]) => ({
      text: name === alias ? name : `${name} as ${alias}`,
      isType: !used.get(target).has(`const ${name}`),
    }));
    const path = relative(dirname(file), target);
    return importLine(specifiers, path.startsWith(".") ? path : `./${path}`);
  });
}

function importLine(specifiers, path) {
  const isType = specifiers.every((each) => each.isType);
  const names = specifiers.map((each) => `${each.isType && !isType ? "type " : ""}${each.text}`);
  const line = `import ${isType ? "type " : ""}{ ${names.join(", ")} } from "${path}";`;
  return line.length <= MAX_WIDTH
    ? line
    : line.replace("{ ", "{\n  ").replaceAll(", ", ",\n  ").replace(" }", ",\n}");
}
