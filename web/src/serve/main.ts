/** The page of `cwnd serve`: studies, runs and the kernel of the machine that serves it. */

import { byId, make } from "../dom";
import { get, Listener, ServerError, type Machine, type StudyProgress } from "./api";
import { noteServer } from "../pages";
import { inline } from "./inline";
import { showKernel } from "./kernel";
import { Runs } from "./runs";
import { Sockets } from "./sockets";
import { Stores } from "./stores";
import "../style.css";
import "./serve.css";

/** Shows what is wrong at the top of the page; an empty text hides it. What follows the first line shows a place in a file. */
function say(text: string): void {
  const place = byId("problems");
  const [first, ...others] = text.split("\n");
  place.replaceChildren(inline(first!), ...(others.length > 0 ? [make("pre", {}, others.join("\n"))] : []));
  place.hidden = text === "";
}

function failed(error: unknown): void {
  if (!(error instanceof ServerError)) say(`The page has a fault: ${String(error)}.`);
  else if (error.status === 0) say("The server does not answer. The page connects again when it does; what was stored is safe.");
  else if (error.status === 401) say("The server does not know this page: it was started again, or the address had no token. Open the address that cwnd serve printed.");
  else say(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
}

async function begin(): Promise<void> {
  // The cookie has the token now: it need not stay in the address and the history.
  if (location.search.includes("token=")) history.replaceState(null, "", location.pathname + location.hash);
  const stores = new Stores(failed, () => say(""));
  const runs = new Runs(failed);
  let machine: Machine;
  try {
    machine = await get<Machine>("/api/machine");
  } catch (error) {
    if (error instanceof ServerError && error.status !== 401 && error.status !== 0) {
      say("This page shows the machine that serves it, and this host serves files alone. Run “cwnd serve” on your machine and open the address that it prints. The bench needs no server.");
    } else failed(error);
    return;
  }
  noteServer();
  byId("machine").textContent = `cwnd ${machine.version}, ${machine.kernel ? `Linux ${machine.kernel}, ` : ""}${machine.threads} threads`;
  runs.machine(machine);
  new Sockets(machine);
  void showKernel(machine);
  await stores.refresh();
  let lost = false;
  new Listener<StudyProgress | null>("/api/progress", (progress) => stores.advance(progress), (connected) => {
    if (connected && lost) {
      say("");
      void stores.refresh();
    } else if (!connected) {
      // The reason: no server, or another token.
      void get("/api/stores").catch(failed);
    }
    lost = !connected;
  });
}

void begin();
