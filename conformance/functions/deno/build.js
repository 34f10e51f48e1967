export default async () => {
  return [Deno.build, Object.isFrozen(Deno.build), Deno.noColor, Deno.args]
}
