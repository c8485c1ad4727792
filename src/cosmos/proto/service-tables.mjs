// Part of generate.mjs: appends a table for each service to the generated file of the service's definition.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, fromBinary, getOption } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const MAX_WIDTH = 120;

/** Appends the tables of all services to the generated files in `folder`. `binary` is the FileDescriptorSet of the definitions. */
export function writeServiceTables(folder, binary) {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, binary));
  const signer = registry.getExtension("cosmos.msg.v1.signer");
  for (const file of registry.files) {
    const tables = file.services.map((service) => serviceTable(service, signer));
    if (tables.length > 0) appendFileSync(join(folder, `${file.name}.ts`), tables.join(""));
  }
}

function serviceTable(service, signer) {
  const name = service.typeName.slice(service.typeName.lastIndexOf(".") + 1);
  const methods = service.methods
    .filter(({ methodKind }) => methodKind === "unary")
    .map((method) => methodEntry(method, name === "Msg" ? signer : undefined));
  return (
    `\n/** The methods of the service ${service.typeName}. */\n` +
    `export const ${name} = {\n  name: "${service.typeName}",\n  methods: {\n${methods.join("")}  },\n} as const;\n`
  );
}

/** Returns a table entry: request and response for a query; for a message, also type URL and signers, but no empty response. */
function methodEntry({ name, parent, input, output }, signer) {
  for (const message of [input, output])
    if (message.file !== parent.file || message.parent !== undefined)
      throw new Error(
        `${parent.typeName}/${name}: ${message.typeName} was expected in the file of its service`,
      );
  const members =
    signer === undefined
      ? [`request: ${input.name}`, `response: ${output.name}`]
      : [
          `typeUrl: "/${input.typeName}"`,
          `request: ${input.name}`,
          ...(output.fields.length === 0 ? [] : [`response: ${output.name}`]),
          `signers: ${signersFunction(input, signer)}`,
        ];
  const line = `    ${name}: { ${members.join(", ")} },\n`;
  if (line.length <= MAX_WIDTH) return line;
  return `    ${name}: {\n${members.map((member) => `      ${member},\n`).join("")}    },\n`;
}

/** Generates a function that returns the addresses in a message's signer fields (option `cosmos.msg.v1.signer`). */
function signersFunction(message, signer) {
  const fields = signerFields(message, signer);
  const parts = fields.map((field) => {
    if (field.fieldKind === "scalar") return field.localName;
    const [inner] = signerFields(field.message, signer);
    const { localName } = inner;
    return `...${field.localName}.map(({ ${localName} }) => ${localName})`;
  });
  return `({ ${fields.map(({ localName }) => localName).join(", ")} }: ${message.name}) => [${parts.join(", ")}]`;
}

function signerFields(message, signer) {
  const names = getOption(message, signer);
  const fields = message.fields.filter((field) => names.includes(field.name));
  if (names.length === 0 || fields.length !== names.length)
    throw new Error(`${message.typeName}: fields were expected in the option cosmos.msg.v1.signer`);
  return fields;
}
