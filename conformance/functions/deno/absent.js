export default async () => {
  return [
    typeof Deno.openKv,
    typeof Deno.nothing,
    'serve' in Deno,
    typeof Deno.test,
    typeof Deno.cwd(),
    Deno.stdout.isTerminal(),
  ]
}
