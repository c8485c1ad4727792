import "./fonts.css";
import "./boot";
import { createTheme, LoadingState, type PanelData, ThemeContext } from "@grafana/data";
import { initPluginTranslations } from "@grafana/i18n";
import * as runtime from "@grafana/runtime";
import { EmbeddedScene, loadResources, registerRuntimePanelPlugin, sceneGraph } from "@grafana/scenes";
import { GlobalStyles, PortalContainer } from "@grafana/ui";
import { createRoot } from "react-dom/client";
import { HashRouter } from "react-router-dom";
import { catchError, map, of } from "rxjs";
import { fillRegistries, PANELS } from "./panels";
import { Prometheus, traffic } from "./prometheus";
import { readPanels } from "./read";
import { sceneOf, type View } from "./scene";

const SOURCE: any = {
  id: 1,
  uid: "prometheus",
  type: "prometheus",
  name: "Prometheus",
  isDefault: true,
  access: "proxy",
  meta: { id: "prometheus", name: "Prometheus", info: { logos: {} }, metrics: true },
  jsonData: {},
  readOnly: true,
};

/** Pixels of Grafana's own bar above a dashboard, and frames without a change after which a page is ready. */
const BAR = 40;
const QUIET_FRAMES = 20;
const LONGEST_MS = 60_000;
/** The browser's own function. Once a test has set the page's clock, the global one is a timer that does not wait for the page to be drawn. */
const nextFrame = window.requestAnimationFrame.bind(window);

let scene: EmbeddedScene | undefined;

/** Connects Grafana's packages with what its server and its front end would give them. */
async function connect(prometheus: string): Promise<void> {
  await initPluginTranslations("grafana-scenes", [loadResources]);
  await initPluginTranslations("grafana", []);
  fillRegistries();
  const source = new Prometheus(prometheus, SOURCE);
  const own: any = runtime;
  own.setDataSourceSrv({
    get: async () => source,
    getList: () => [SOURCE],
    getInstanceSettings: () => SOURCE,
    reload: () => {},
    registerRuntimeDataSource: () => {},
  });
  own.setRunRequest((_: unknown, request: any) =>
    (source.query(request) as any).pipe(
      map(
        ({ data }: any): PanelData => ({
          state: LoadingState.Done,
          series: data,
          timeRange: request.range,
          request,
        }),
      ),
      catchError(({ message }: Error) =>
        of({ state: LoadingState.Error, series: [], error: { message }, timeRange: request.range, request }),
      ),
    ),
  );
  own.setTemplateSrv({
    replace: (text: string, scoped: any, format: any) =>
      scene === undefined || !text ? text : sceneGraph.interpolate(scene, text, scoped, format),
    getVariables: () => [],
    containsTemplate: () => false,
    updateTimeRange: () => {},
  });
  own.setPluginImportUtils({
    importPanelPlugin: async (id: string) => PANELS[id],
    getPanelPluginFromCache: (id: string) => PANELS[id],
  });
  for (const [pluginId, plugin] of Object.entries(PANELS)) {
    plugin.meta = {
      id: pluginId,
      name: pluginId,
      info: { logos: {} },
      module: "",
      baseUrl: "",
      type: "panel",
    } as any;
    registerRuntimePanelPlugin({ pluginId, plugin });
  }
}

/** Whether the grid has the width of the window, and the panels that of the grid. Each follows a change some frames later. */
function isLaidOut(): boolean {
  const grid = document.querySelector<HTMLElement>(".react-grid-layout");
  if (grid === null) return true;
  const panels = [...grid.querySelectorAll("[data-viz-panel-key]")];
  const edge = Math.max(...panels.map((panel) => panel.getBoundingClientRect().right));
  const isFilled = panels.length === 0 || Math.abs(edge - grid.getBoundingClientRect().right) < 60;
  return isFilled && Math.abs(grid.clientWidth - document.documentElement.clientWidth) < 60;
}

/** Resolves when all responses are there and nothing has changed for some frames. */
async function untilQuiet(): Promise<void> {
  const endMs = performance.now() + LONGEST_MS;
  let quiet = 0;
  const observer = new MutationObserver(() => {
    quiet = 0;
  });
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  let sent = -1;
  while (quiet < QUIET_FRAMES) {
    if (performance.now() > endMs)
      throw new Error(`the page is not ready: ${traffic.pending} requests are pending`);
    await new Promise(nextFrame);
    quiet = traffic.pending > 0 || traffic.sent !== sent || !isLaidOut() ? 0 : quiet + 1;
    ({ sent } = traffic);
  }
  observer.disconnect();
}

const root = createRoot(document.getElementById("root") as HTMLElement);
const theme = createTheme({ colors: { mode: "dark" } });

/** Shows a dashboard from its JSON. */
async function show(dashboard: any, view: View): Promise<void> {
  scene = sceneOf(dashboard, view);
  const links = dashboard.links.map(({ title, asDropdown }: any) => `${title}${asDropdown ? " ▾" : ""}`);
  root.render(
    <HashRouter key={Math.random()}>
      <ThemeContext.Provider value={theme}>
        <GlobalStyles />
        <div style={{ background: theme.colors.background.canvas, minHeight: "100vh" }}>
          <div
            data-bar
            style={{
              height: BAR,
              lineHeight: `${BAR}px`,
              padding: "0 16px",
              color: theme.colors.text.primary,
            }}
          >
            Relaywatch / {dashboard.title}
            <span style={{ float: "right" }}>{links.join("   ")}</span>
          </div>
          <scene.Component model={scene} />
        </div>
        <PortalContainer />
      </ThemeContext.Provider>
    </HashRouter>,
  );
  await untilQuiet();
}

Object.assign(window, { connect, show, untilQuiet, readPanels });
