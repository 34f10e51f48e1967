export default async () => {
  return [
    () => Deno.writeTextFileSync('x', 'y'),
    () => Deno.readTextFileSync('/etc/passwd'),
    () => new Deno.Command('/bin/ls').outputSync(),
    () => Deno.hostname(),
    () => Deno.mkdirSync('a'),
    () => Deno.removeSync('a'),
    () => Deno.statSync('/a'),
    () => Deno.loadavg(),
    () => Deno.dlopen('a', {}),
    () => Deno.env.set('a', 'b'),
    () => Deno.listen({ port: 1 }),
  ].map((f) => {
    try {
      f()
    } catch (e) {
      return [
        e.name,
        e instanceof Deno.errors.NotCapable,
        e.message.replace(/,.*/, '').replace(/^(Requires sys access).*/, '$1'),
      ]
    }
  })
}
