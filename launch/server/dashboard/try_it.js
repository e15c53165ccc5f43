// The box to try the model: a request, streamed.
class TryIt {
  constructor(form) {
    const field = (id) => form.querySelector("#" + id);
    this.fields = {prompt: field("prompt"), kind: field("kind"), max_tokens: field("max-tokens"), temperature: field("temperature"), key: field("api-key")};
    this.send = field("send");
    this.stop = field("stop");
    this.answer = field("answer");
    this.figures = field("answer-figures");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    this.stop.addEventListener("click", () => this.abort.abort());
  }

  request() {
    const {prompt, kind, max_tokens, temperature} = this.fields;
    const common = {max_tokens: Number(max_tokens.value), temperature: Number(temperature.value), stream: true, stream_options: {include_usage: true}};
    return kind.value === "chat"
      ? {path: "v1/chat/completions", body: {...common, messages: [{role: "user", content: prompt.value}]}}
      : {path: "v1/completions", body: {...common, prompt: prompt.value}};
  }

  async run() {
    const {path, body} = this.request();
    this.abort = new AbortController();
    this.set_running(true);
    this.answer.textContent = this.figures.textContent = "";
    this.answer.className = "";
    try {
      const headers = {"Content-Type": "application/json"};
      if (this.fields.key.value) headers.Authorization = "Bearer " + this.fields.key.value;
      const begin = performance.now();
      const response = await fetch(path, {method: "POST", headers, body: JSON.stringify(body), signal: this.abort.signal});
      if (!response.ok) throw new Error((await response.json()).error.message);
      await this.read(response.body, begin);
    } catch (error) {
      if (error.name === "AbortError") return this.figures.append(" – stopped");
      this.answer.className = "error";
      this.answer.textContent = error.message;
    } finally {
      this.set_running(false);
    }
  }

  async read(stream, begin) {
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let text = "", first = null;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) {
        if (event === "data: [DONE]") continue;
        const chunk = JSON.parse(event.slice("data: ".length));
        if (chunk.error) throw new Error(chunk.error.message);
        const piece = chunk.choices.length ? chunk.choices[0].text ?? chunk.choices[0].delta.content ?? "" : "";
        if (piece && first === null) first = performance.now();
        this.answer.append(piece);
        if (chunk.usage) this.show_figures(chunk.usage, begin, first ?? performance.now());
      }
    }
  }

  show_figures({prompt_tokens, completion_tokens}, begin, first) {
    const [wait, unit] = format_time((first - begin) / 1000);
    const seconds = (performance.now() - first) / 1000;
    const rate = completion_tokens > 1 && seconds > 0 ? `, then ${format_number((completion_tokens - 1) / seconds)} tokens/s` : "";
    this.figures.textContent = `${prompt_tokens} tokens in, ${completion_tokens} out; first after ${wait} ${unit}${rate}`;
  }

  set_running(running) {
    this.send.disabled = running;
    this.stop.disabled = !running;
  }
}
