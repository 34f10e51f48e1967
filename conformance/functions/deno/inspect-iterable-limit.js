export default async () => {
  return [
    Deno.inspect([1, 2, 3, 4, 5], { iterableLimit: 2 }),
    Deno.inspect(new Set([1, 2, 3]), { iterableLimit: 2 }),
    Deno.inspect(
      new Map([
        [1, 2],
        [3, 4],
      ]),
      { iterableLimit: 1 },
    ),
    Deno.inspect(new Uint8Array(9), { iterableLimit: 3 }),
    Deno.inspect([1], { iterableLimit: 0 }),
  ]
}
