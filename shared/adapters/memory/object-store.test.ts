import { objectStoreConformance } from "../../testing/object-store-conformance.ts";
import { MemoryObjectStore } from "./object-store.ts";

objectStoreConformance("memory", async () => {
  const store = new MemoryObjectStore();
  return { store, another: async () => new MemoryObjectStore(store.objects), dispose: async () => {} };
});
