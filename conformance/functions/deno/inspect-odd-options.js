export default async () => {
  return [Deno.inspect({ a: 1 }, null), Deno.inspect({ a: 1 }, 5), Deno.inspect()]
}
