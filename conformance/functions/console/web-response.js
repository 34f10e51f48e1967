export default async () => {
  console.log(new Response(null, { status: 204 }))
}
