export default async () => {
  console.log(new ArrayBuffer(3), new DataView(new ArrayBuffer(2)))
  console.log(new ArrayBuffer(200))
}
