export default async () => {
  return [
    Object.keys(Deno.errors),
    new Deno.errors.NotFound('x').name,
    new Deno.errors.NotCapable('x') instanceof Error,
    new Deno.errors.NotFound('a', { cause: 1 }).cause,
  ]
}
