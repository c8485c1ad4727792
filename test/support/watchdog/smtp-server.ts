import { createServer, type Socket } from "node:net";

/** A mail that the server accepted. */
interface ReceivedMail {
  readonly recipients: readonly string[];
  /** Headers and body. */
  readonly text: string;
}

/** An SMTP server on a free port of loopback. */
export interface SmtpServer {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Lines of the clients, such as "AUTH PLAIN …". */
  readonly commands: readonly string[];
  /** Reply to the next messages, such as "554 no"; undefined accepts them. */
  refusal: string | undefined;
  /** Replies to the next recipients, by address. */
  readonly refusedRecipients: Map<string, string>;
  readonly close: () => Promise<void>;
}

/** Starts an SMTP server without TLS that accepts every account and every message. */
export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const refusedRecipients = new Map<string, string>();
  const served: { refusal: string | undefined } = { refusal: undefined };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    const state = { buffered: "", recipients: new Array<string>(), data: undefined as string | undefined };
    const reply = (line: string): void => void socket.write(`${line}\r\n`);
    const onLine = (line: string): void => {
      if (state.data !== undefined) {
        if (line !== ".") {
          // A client doubles a full stop at the begin of a line.
          state.data += `${line.replace(/^\.\./, ".")}\n`;
          return;
        }
        if (served.refusal === undefined) mails.push({ recipients: state.recipients, text: state.data });
        state.data = undefined;
        state.recipients = [];
        reply(served.refusal ?? "250 accepted");
        return;
      }
      commands.push(line);
      const [verb = ""] = line.toUpperCase().split(" ");
      if (verb === "EHLO") socket.write("250-test\r\n250 AUTH PLAIN\r\n");
      else if (verb === "AUTH") reply("235 welcome");
      else if (verb === "DATA") {
        state.data = "";
        reply("354 go on");
      } else if (verb === "QUIT") {
        reply("221 bye");
        socket.end();
      } else {
        const address = verb === "RCPT" ? line.replace(/^RCPT TO:<(.*)>.*$/i, "$1") : "";
        const refused = refusedRecipients.get(address);
        if (address !== "" && refused === undefined) state.recipients.push(address);
        reply(refused ?? "250 ok");
      }
    };
    socket.on("data", (chunk: Buffer) => {
      state.buffered += chunk.toString("utf8");
      const lines = state.buffered.split("\r\n");
      state.buffered = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    });
    reply("220 test");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    mails,
    commands,
    refusedRecipients,
    get refusal() {
      return served.refusal;
    },
    set refusal(reply) {
      served.refusal = reply;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
