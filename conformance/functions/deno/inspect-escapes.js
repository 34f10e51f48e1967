export default async () => {
  return [
    Deno.inspect({ a: 'x\ny\t"' }, { escapeSequences: false }),
    Deno.inspect('x\ny', { escapeSequences: false }),
    Deno.inspect('a\nb'),
    Deno.inspect("it's"),
    Deno.inspect('"'),
  ]
}
