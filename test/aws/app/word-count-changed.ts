/** `word-count.ts` after a change of its code, which one sees in what it writes. Its state is the same. */
import { wordCount } from "./word-count.ts";

export default wordCount({ changed: true });
