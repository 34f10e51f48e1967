export default async () => {
  return Promise.all(
    [
      () => Deno.writeTextFile('x', 'y'),
      () => Deno.readTextFile('/etc/passwd'),
      () => Deno.connect({ hostname: 'a', port: 1 }),
    ].map((f) =>
      f().then(
        () => 'ok',
        (e) => [e.name, e.message.replace(/,.*/, '')],
      ),
    ),
  )
}
