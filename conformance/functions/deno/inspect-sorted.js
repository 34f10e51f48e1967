export default async () => {
  return [
    Deno.inspect({ b: 1, a: 2, c: { z: 1, y: 2 } }, { sorted: true }),
    Deno.inspect(new Set([3, 1, 2]), { sorted: true }),
    Deno.inspect([3, 1, 2], { sorted: true }),
  ]
}
