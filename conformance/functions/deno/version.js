export default async () => {
  return Object.entries(Deno.version).map(([k, v]) => [k, typeof v])
}
