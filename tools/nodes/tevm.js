/** tevm's node as it comes, on the port that is named. */
import { createMemoryClient } from "tevm";
import { createServer } from "tevm/server";

const port = Number(process.argv[2]);
createServer(createMemoryClient()).listen(port, "127.0.0.1", () => console.log(`Listening on 127.0.0.1:${port}`));
