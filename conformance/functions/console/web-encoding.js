export default async () => {
  console.log(new TextEncoder(), new TextDecoder())
}
