#include "data/doodle_strokes.h"

#include <cmath>
#include <vector>

namespace acgan {
namespace {

constexpr Point kCenter = {0.5f, 0.5f};

void draw_sail(Pen& pen, float mast_x, float top, float foot, float direction) {
  const float width = direction * pen.between(0.24f, 0.36f);
  pen.polygon({{mast_x, top}, {mast_x + width, foot}, {mast_x, foot}});
}

void draw_boat(Pen& pen) {
  const float deck = pen.between(0.64f, 0.72f), keel = pen.between(0.85f, 0.95f);
  const float inset = pen.between(0.1f, 0.22f);
  if (pen.chance(0.6f)) {
    pen.polygon({{0.05f, deck}, {0.95f, deck}, {0.95f - inset, keel}, {0.05f + inset, keel}});
  } else {
    pen.line({0.05f, deck}, {0.95f, deck});
    pen.curve(
        {{0.05f, deck}, {0.2f, keel - 0.05f}, {0.5f, keel}, {0.8f, keel - 0.05f}, {0.95f, deck}});
  }
  const float mast_x = pen.between(0.42f, 0.58f), top = pen.between(0.02f, 0.1f);
  pen.line({mast_x, deck}, {mast_x, top});
  const float foot = deck - pen.between(0.05f, 0.14f);
  const float direction = pen.chance(0.5f) ? 1.0f : -1.0f;
  draw_sail(pen, mast_x, top, foot, direction);
  if (pen.chance(0.4f)) draw_sail(pen, mast_x, top + pen.between(0.05f, 0.15f), foot, -direction);
  if (pen.chance(0.25f)) {
    std::vector<Point> waves;
    for (int i = 0; i <= 8; ++i) {
      waves.push_back({0.02f + 0.12f * static_cast<float>(i), i % 2 == 0 ? 1.06f : 1.0f});
    }
    pen.curve(waves);
  }
}

void draw_clock(Pen& pen) {
  const float radius = 0.45f, squash = pen.between(0.92f, 1.08f);
  pen.ellipse(kCenter, radius * squash, radius);
  const float hour = pen.between(0, 1), minute = hour + pen.between(0.2f, 0.8f);
  const auto hand = [&](float turns, float length) {
    pen.line(kCenter, on_ellipse(kCenter, length, length, turns));
  };
  hand(hour, pen.between(0.16f, 0.22f));
  hand(minute, pen.between(0.26f, 0.34f));
  const int ticks = pen.chance(0.5f) ? 12 : (pen.chance(0.7f) ? 4 : 0);
  const float outer = pen.between(0.86f, 0.92f) * radius;
  const float inner = outer - (ticks == 4 ? 0.09f : 0.05f);
  for (int i = 0; i < ticks; ++i) {
    const float turns = static_cast<float>(i) / static_cast<float>(ticks);
    pen.line(on_ellipse(kCenter, inner * squash, inner, turns),
             on_ellipse(kCenter, outer * squash, outer, turns));
  }
}

void draw_cup(Pen& pen) {
  const float left = 0.12f, right = 0.68f, top = 0.2f;
  const float bottom = pen.between(0.75f, 0.92f), taper = pen.between(0.0f, 0.12f);
  const float middle = (left + right) / 2, lip = pen.between(0.05f, 0.1f);
  const bool has_round_top = pen.chance(0.65f);
  if (has_round_top) {
    pen.ellipse({middle, top}, middle - left, lip);
  } else {
    pen.line({left, top}, {right, top});
  }
  if (pen.chance(0.5f)) {
    pen.polyline({{left, top}, {left + taper, bottom}, {right - taper, bottom}, {right, top}});
  } else {
    pen.curve({{left, top},
               {left + taper * 0.7f, bottom - 0.16f},
               {left + taper + 0.08f, bottom},
               {right - taper - 0.08f, bottom},
               {right - taper * 0.7f, bottom - 0.16f},
               {right, top}});
  }
  const float height = bottom - top, reach = pen.between(0.17f, 0.27f);
  const float upper = top + height * pen.between(0.12f, 0.25f);
  const float lower = top + height * pen.between(0.6f, 0.8f);
  const float edge = right - taper / 2;
  pen.curve({{edge, upper},
             {edge + reach * 0.8f, upper - 0.01f},
             {edge + reach, (upper + lower) / 2},
             {edge + reach * 0.7f, lower},
             {edge, lower}});
  const int steams = pen.chance(0.3f) ? pen.count_between(2, 3) : 0;
  for (int i = 0; i < steams; ++i) {
    const float x = middle + 0.15f * (static_cast<float>(i) - static_cast<float>(steams - 1) / 2);
    pen.curve({{x, 0.07f}, {x + 0.04f, 0.0f}, {x - 0.03f, -0.08f}, {x + 0.02f, -0.15f}});
  }
  if (pen.chance(0.15f)) pen.line({left - 0.1f, bottom + 0.05f}, {right + 0.1f, bottom + 0.05f});
}

void draw_hair(Pen& pen, float radius_x, float radius_y) {
  const int hairs = pen.count_between(4, 8);
  for (int i = 0; i < hairs; ++i) {
    const float turns = 0.6f + 0.3f * static_cast<float>(i) / static_cast<float>(hairs - 1);
    const float length = pen.between(1.12f, 1.28f);
    pen.line(on_ellipse(kCenter, radius_x, radius_y, turns),
             on_ellipse(kCenter, radius_x * length, radius_y * length, turns));
  }
}

void draw_face(Pen& pen) {
  const float radius_x = pen.between(0.36f, 0.45f), radius_y = pen.between(0.42f, 0.48f);
  pen.ellipse(kCenter, radius_x, radius_y);
  const float eye_y = pen.between(0.34f, 0.42f), apart = pen.between(0.13f, 0.19f);
  const float eye = pen.between(0.025f, 0.065f);
  const bool is_round = pen.chance(0.7f);
  for (const float side : {-1.0f, 1.0f}) {
    const Point center = {0.5f + side * apart, eye_y};
    if (is_round) {
      pen.ellipse(center, eye, eye * pen.between(0.9f, 1.3f));
    } else {
      pen.line({center.x, eye_y - 0.05f}, {center.x, eye_y + 0.05f});
    }
  }
  const float mouth_y = pen.between(0.68f, 0.75f), mouth = pen.between(0.15f, 0.24f);
  const float smile = pen.chance(0.8f) ? pen.between(0.05f, 0.12f) : pen.between(-0.06f, 0.0f);
  const std::vector<Point> lips = {{0.5f - mouth, mouth_y - smile / 2},
                                   {0.5f - mouth / 2, mouth_y + smile / 3},
                                   {0.5f, mouth_y + smile / 2},
                                   {0.5f + mouth / 2, mouth_y + smile / 3},
                                   {0.5f + mouth, mouth_y - smile / 2}};
  pen.curve(lips);
  if (smile > 0.05f && pen.chance(0.2f)) pen.line(lips.front(), lips.back());
  if (pen.chance(0.45f)) {
    pen.polyline({{0.5f, 0.46f}, {0.5f + pen.between(-0.06f, 0.06f), 0.58f}, {0.51f, 0.59f}});
  }
  if (pen.chance(0.25f)) draw_hair(pen, radius_x, radius_y);
  if (pen.chance(0.2f)) {
    for (const float side : {-1.0f, 1.0f}) {
      pen.arc({.center = {0.5f + side * radius_x, 0.5f},
               .radius_x = side * 0.08f,
               .radius_y = 0.1f,
               .start = -0.25f,
               .sweep = 0.5f});
    }
  }
}

void draw_fish_details(Pen& pen, float height) {
  pen.dot({0.19f, 0.5f - height * 0.3f}, 0.03f);
  if (pen.chance(0.4f)) {
    pen.curve({{0.03f, 0.55f}, {0.09f, 0.56f}, {0.13f, 0.54f}});
  }
  if (pen.chance(0.4f)) {
    const float bend = pen.between(0.04f, 0.1f);
    pen.curve({{0.28f, 0.5f - height * 0.8f}, {0.28f + bend, 0.5f}, {0.28f, 0.5f + height * 0.8f}});
  }
  if (pen.chance(0.35f)) {
    pen.curve(
        {{0.34f, 0.5f - height}, {0.44f, 0.5f - height - 0.1f}, {0.54f, 0.5f - height * 0.85f}});
  }
  const int scales = pen.chance(0.25f) ? pen.count_between(2, 3) : 0;
  for (int i = 0; i < scales; ++i) {
    const float x = 0.38f + 0.11f * static_cast<float>(i);
    pen.arc({.center = {x, 0.5f},
             .radius_x = 0.05f,
             .radius_y = 0.07f,
             .start = -0.25f,
             .sweep = 0.5f});
  }
}

void draw_fish(Pen& pen) {
  const float height = pen.between(0.18f, 0.27f);
  const float tail = pen.between(0.13f, 0.22f);
  if (pen.chance(0.5f)) {
    // One loop that crosses itself before the tail.
    const float waist = pen.between(0.72f, 0.78f);
    pen.curve({{0.98f, 0.5f - tail},
               {waist, 0.5f},
               {0.5f, 0.5f + height * 0.85f},
               {0.27f, 0.5f + height},
               {0.08f, 0.5f + height * 0.5f},
               {0.0f, 0.5f},
               {0.08f, 0.5f - height * 0.5f},
               {0.27f, 0.5f - height},
               {0.5f, 0.5f - height * 0.85f},
               {waist, 0.5f},
               {0.98f, 0.5f + tail}});
    pen.line({0.98f, 0.5f + tail}, {0.98f - pen.between(0, 0.07f), 0.5f - tail});
  } else {
    pen.ellipse({0.36f, 0.5f}, 0.36f, height);
    pen.polygon({{0.7f, 0.5f}, {0.98f, 0.5f - tail}, {0.98f, 0.5f + tail}});
  }
  draw_fish_details(pen, height);
}

void draw_leaf(Pen& pen, Point from, float side) {
  const float reach = side * pen.between(0.16f, 0.24f);
  const Point tip = {from.x + reach, from.y - pen.between(0.1f, 0.16f)};
  pen.curve({from, {from.x + reach * 0.3f, from.y - 0.12f}, tip});
  pen.curve({tip, {from.x + reach * 0.75f, from.y - 0.01f}, from});
}

void draw_flower(Pen& pen) {
  const Point head = {0.5f, 0.33f};
  const int petals = pen.count_between(5, 7);
  const float core = pen.between(0.075f, 0.11f), reach = pen.between(0.19f, 0.25f);
  const float turn = pen.between(0, 1);
  const float width = 0.5f * (core + reach) / static_cast<float>(petals) * pen.between(5.2f, 6.4f);
  pen.ellipse(head, core, core);
  for (int i = 0; i < petals; ++i) {
    const float middle = turn + static_cast<float>(i) / static_cast<float>(petals);
    const float half = width / (6.283f * (core + reach));
    const auto at = [&](float radius, float offset) {
      return on_ellipse(head, radius, radius, middle + offset * half);
    };
    const float tip = core + reach * pen.between(0.9f, 1.1f);
    pen.curve({at(core, -0.6f), at(core + reach * 0.55f, -1), at(tip, -0.45f), at(tip, 0.45f),
               at(core + reach * 0.55f, 1), at(core, 0.6f)});
  }
  const float foot = 0.5f + pen.between(-0.08f, 0.08f), length = pen.between(0.95f, 1.08f);
  const float stem_x = (0.5f + foot) / 2 + pen.between(-0.03f, 0.03f);
  pen.curve({{0.5f, head.y + core + reach}, {stem_x, 0.75f}, {foot, length}});
  const int leaves = pen.count_between(0, 2);
  const float first = pen.chance(0.5f) ? 1.0f : -1.0f;
  if (leaves > 0) draw_leaf(pen, {stem_x, pen.between(0.82f, 0.92f)}, first);
  if (leaves > 1) draw_leaf(pen, {stem_x, pen.between(0.78f, 0.9f)}, -first);
}

void draw_window(Pen& pen, Point corner, float size) {
  const Point end = {corner.x + size, corner.y + size};
  pen.polygon({corner, {end.x, corner.y}, end, {corner.x, end.y}});
  if (size > 0.15f && pen.chance(0.3f)) {
    pen.line({corner.x, corner.y + size / 2}, {end.x, corner.y + size / 2});
    pen.line({corner.x + size / 2, corner.y}, {corner.x + size / 2, end.y});
  }
}

void draw_house(Pen& pen) {
  const float left = 0.12f, right = 0.88f, floor = 0.97f;
  const float eaves = pen.between(0.4f, 0.5f), overhang = pen.between(0.0f, 0.12f);
  const float ridge = pen.between(0.02f, 0.12f);
  pen.polygon({{left, eaves}, {right, eaves}, {right, floor}, {left, floor}});
  const Point gable = {0.5f + pen.between(-0.04f, 0.04f), ridge};
  pen.polyline({{left - overhang, eaves}, gable, {right + overhang, eaves}});
  if (overhang > 0.05f) pen.line({left - overhang, eaves}, {right + overhang, eaves});

  const float door_width = pen.between(0.15f, 0.2f), door_top = pen.between(0.65f, 0.72f);
  const float place = pen.between(0, 1);
  float door = 0.5f - door_width / 2;
  if (place < 0.25f) door = left + 0.1f;
  if (place > 0.75f) door = right - 0.1f - door_width;
  pen.polyline(
      {{door, floor}, {door, door_top}, {door + door_width, door_top}, {door + door_width, floor}});
  const float window = pen.between(0.13f, 0.19f), window_y = pen.between(0.54f, 0.6f);
  if (place > 0.25f && pen.chance(0.6f)) draw_window(pen, {left + 0.07f, window_y}, window);
  if (place < 0.75f && pen.chance(0.6f))
    draw_window(pen, {right - 0.07f - window, window_y}, window);
  if (pen.chance(0.35f)) {
    const float x = 0.7f, slope = (eaves - ridge) / (right + overhang - gable.x);
    const float roof_left = ridge + slope * (x - gable.x), roof_right = roof_left + slope * 0.1f;
    pen.polyline(
        {{x, roof_left}, {x, ridge + 0.01f}, {x + 0.1f, ridge + 0.01f}, {x + 0.1f, roof_right}});
  }
}

void draw_star(Pen& pen) {
  // Drawn in one go over the middle, or as an outline of ten corners.
  const bool is_outline = pen.chance(0.5f);
  const float turn = -0.25f + pen.between(-0.02f, 0.02f), depth = pen.between(0.4f, 0.52f);
  std::vector<Point> corners;
  if (is_outline) {
    for (int i = 0; i < 10; ++i) {
      const float radius = 0.5f * (i % 2 == 0 ? pen.between(0.93f, 1.07f) : depth);
      corners.push_back(on_ellipse(kCenter, radius, radius, turn + static_cast<float>(i) / 10));
    }
  } else {
    const int start = pen.count_between(0, 4);
    for (int i = 0; i < 5; ++i) {
      const float radius = 0.5f * pen.between(0.93f, 1.07f);
      const float turns = static_cast<float>((start + 2 * i) % 5) / 5;
      corners.push_back(on_ellipse(kCenter, radius, radius, turn + turns));
    }
  }
  corners.push_back(corners.front());
  pen.polyline(corners);
}

void draw_sun(Pen& pen) {
  const float radius = pen.between(0.2f, 0.28f);
  pen.ellipse(kCenter, radius, radius * pen.between(0.9f, 1.1f));
  const int rays = pen.count_between(7, 13);
  const float gap = pen.between(0.02f, 0.1f), length = pen.between(0.12f, 0.24f);
  const float turn = pen.between(0, 1);
  const bool alternates = pen.chance(0.2f);
  for (int i = 0; i < rays; ++i) {
    const float turns =
        turn + (static_cast<float>(i) + pen.between(-0.15f, 0.15f)) / static_cast<float>(rays);
    const float shorter = alternates && i % 2 == 1 ? 0.6f : 1.0f;
    const float inner = radius + gap, outer = inner + length * shorter * pen.between(0.8f, 1.2f);
    pen.line(on_ellipse(kCenter, inner, inner, turns), on_ellipse(kCenter, outer, outer, turns));
  }
}

void draw_fir(Pen& pen) {
  const int tiers = pen.count_between(2, 3);
  const float top = 0.0f, bottom = 0.78f;
  const float tier = (bottom - top) / static_cast<float>(tiers);
  const float width = pen.between(0.28f, 0.4f);
  for (const float side : {-1.0f, 1.0f}) {
    std::vector<Point> outline = {{0.5f, top}};
    for (int i = 1; i <= tiers; ++i) {
      const float share = static_cast<float>(i) / static_cast<float>(tiers);
      const float y = top + tier * static_cast<float>(i);
      outline.push_back({0.5f + side * width * (0.35f + 0.65f * share), y});
      outline.push_back({0.5f + side * (i < tiers ? width * 0.4f * share : 0.06f), y});
    }
    pen.polyline(outline);
  }
  pen.polyline({{0.44f, bottom}, {0.44f, 1.0f}, {0.56f, 1.0f}, {0.56f, bottom}});
}

void draw_broadleaf(Pen& pen) {
  const Point crown = {0.5f, 0.32f};
  const float radius_x = pen.between(0.32f, 0.42f), radius_y = pen.between(0.27f, 0.33f);
  const float trunk = pen.between(0.06f, 0.1f);
  const int lobes = pen.count_between(6, 10);
  if (pen.chance(0.7f)) {
    std::vector<Point> cloud;
    for (int i = 0; i <= 4 * lobes; ++i) {
      const float bulge = 0.86f + 0.14f * std::abs(std::sin(0.7854f * static_cast<float>(i)));
      cloud.push_back(on_ellipse(crown, radius_x * bulge, radius_y * bulge,
                                 0.25f + static_cast<float>(i) / static_cast<float>(4 * lobes)));
    }
    pen.curve(cloud);
  } else {
    pen.ellipse(crown, radius_x, radius_y);
  }
  const float fork = crown.y + radius_y * pen.between(0.85f, 1.0f), spread = pen.between(0, 0.06f);
  pen.curve({{0.5f - trunk, fork}, {0.5f - trunk, 0.8f}, {0.5f - trunk - spread, 1.02f}});
  pen.curve({{0.5f + trunk, fork}, {0.5f + trunk, 0.8f}, {0.5f + trunk + spread, 1.02f}});
  if (pen.chance(0.4f)) pen.line({0.5f - trunk - spread, 1.02f}, {0.5f + trunk + spread, 1.02f});
  const int apples = pen.chance(0.25f) ? pen.count_between(2, 4) : 0;
  for (int i = 0; i < apples; ++i) {
    const float distance = pen.between(0.2f, 0.6f);
    pen.dot(on_ellipse(crown, radius_x * distance, radius_y * distance, pen.between(0, 1)), 0.03f);
  }
}

void draw_tree(Pen& pen) {
  if (pen.chance(0.3f)) {
    draw_fir(pen);
  } else {
    draw_broadleaf(pen);
  }
}

}  // namespace

const std::array<DoodleClass, 10> kDoodleClasses = {{{"boat", draw_boat},
                                                     {"clock", draw_clock},
                                                     {"cup", draw_cup},
                                                     {"face", draw_face},
                                                     {"fish", draw_fish},
                                                     {"flower", draw_flower},
                                                     {"house", draw_house},
                                                     {"star", draw_star},
                                                     {"sun", draw_sun},
                                                     {"tree", draw_tree}}};

}  // namespace acgan
