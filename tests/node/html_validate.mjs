// Judges HTML: a line of JSON with the source in, a line of JSON with what is wrong out.
import { createInterface } from "node:readline";
import { HtmlValidate, StaticConfigLoader } from "html-validate";

const loader = new StaticConfigLoader({
  root: true,
  extends: ["html-validate:standard"],
});
const judge = new HtmlValidate(loader);

for await (const line of createInterface({ input: process.stdin })) {
  const report = await judge.validateString(JSON.parse(line));
  const messages = report.results.flatMap((result) => result.messages);
  const words = messages.map(({ ruleId, message, line, column }) => `HTML ${ruleId} at ${line}:${column}: ${message}`);
  process.stdout.write(JSON.stringify(words) + "\n");
}
