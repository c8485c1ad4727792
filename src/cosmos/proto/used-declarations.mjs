// Part of generate.mjs: finds the declarations of generated files that the program uses, and removes the others.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** An import or re-export by names, or as a namespace. */
const IMPORT = /\b(?:import|export) (type )?(?:\{([^}]*)\}|\* as (\w+)) from "(\.[^"]+)"/g;
const WORD = /[A-Za-z_$][\w$]*/g;
/** An import at run time: it can use everything of a file. */
const DYNAMIC_IMPORT = /\bimport\("(\.[^"]+)"\)/g;
const MAX_WIDTH = 120;

/** What codecs import from outside the generated files: a package, or a path from the folder of all. */
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
 * Removes what `programFiles` do not reach from the generated files `genFiles` in `folder`. A type that is only imported as a type is retained without
 * its codec. `locate` maps a path that the program imports to a path of `genFiles`. Returns the files in which something is left.
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

/** The header, the imported names and the top-level declarations of a generated file. */
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

/** Joins each comment with its declaration. The key is the kind and the name: a message has a type and a codec of one name. */
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

/** The names that a text imports from relative paths: local name to file and exported name. */
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

const COMMENT = /^\s*\/\*\*[\s\S]*?\*\/$/gm;

/** The declarations that a file of the program names, except in its docstrings. */
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

/** The names that a text uses of a namespace: all, where the namespace is not the prefix of a name. */
function membersOf(namespace, text, module) {
  const uses = [...text.matchAll(new RegExp(`(?<![.\\w])${namespace}\\b(?:\\.(\\w+))?(?!:)`, "g"))];
  return uses.flatMap(([, name]) => (name === undefined ? namesOf(module) : [name]));
}

function namesOf(module) {
  return module === undefined ? [] : [...module.declarations.keys()].map((key) => key.split(" ")[1]);
}

/** Returns whether the use is new. */
function markUsed({ file, name, type }, modules, used) {
  const { declarations } = modules.get(file);
  const keys = (type ? ["type"] : ["type", "const", "function"])
    .map((kind) => `${kind} ${name}`)
    .filter((key) => declarations.has(key));
  const isNew = keys.some((key) => !used.get(file).has(key));
  for (const key of keys) used.get(file).add(key);
  return isNew;
}

/** The declarations that a declaration names. A type needs the types only, except after `typeof`. */
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

/** Prints what is used of a file, with the imports of that. */
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

/** One line for each file, which are in the order of ts-proto. A name whose codec is gone is imported as a type. */
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
