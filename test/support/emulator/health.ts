/** Whether an emulator serves requests; LocalStack and ministack tell it in the same way. */
export async function answers(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(`${endpoint}/_localstack/health`)).ok;
  } catch {
    return false;
  }
}
